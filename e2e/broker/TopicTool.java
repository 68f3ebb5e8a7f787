/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** What an administrator, or a stranger, does to a topic. Run from its source with the broker's class path. */
final class TopicTool {
    private static final HexFormat HEX = HexFormat.of();

    public static void main(String[] args) throws Exception {
        String brokers = args[1];
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", brokers))) {
            switch (args[0]) {
                case "create" -> create(admin, args[2], Integer.parseInt(args[3]), Short.parseShort(args[4]));
                case "set" -> set(admin, args[2], args[3], args[4]);
                case "deny" -> admin.createAcls(allButOne(args[2], args[3])).all().get();
                case "allow" -> admin.deleteAcls(filters(allButOne(args[2], args[3]))).all().get();
                case "throttle" -> throttle(admin, Double.parseDouble(args[2]));
                case "write" -> write(brokers, args);
                default -> throw new IllegalArgumentException("no such command: " + args[0]);
            }
        }
    }

    private static void create(Admin admin, String topic, int partitions, short replicas) throws Exception {
        admin.createTopics(List.of(new NewTopic(topic, partitions, replicas))).all().get();
    }

    private static void set(Admin admin, String topic, String name, String value) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        AlterConfigOp change = new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET);
        admin.incrementalAlterConfigs(Map.of(resource, List.of(change))).all().get();
        // The broker obeys once it has the change from the controller, and then tells it too.
        while (!value.equals(admin.describeConfigs(List.of(resource)).all().get().get(resource).get(name).value())) {
            Thread.sleep(50);
        }
    }

    /** Lets everybody do everything with a topic but one thing: without the first of these rules the second would forbid all. */
    private static List<AclBinding> allButOne(String topic, String operation) {
        return List.of(
                rule(topic, AclOperation.ALL, AclPermissionType.ALLOW),
                rule(topic, AclOperation.fromString(operation), AclPermissionType.DENY));
    }

    private static AclBinding rule(String topic, AclOperation operation, AclPermissionType permission) {
        ResourcePattern pattern = new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL);
        return new AclBinding(pattern, new AccessControlEntry("User:*", "*", operation, permission));
    }

    private static List<AclBindingFilter> filters(List<AclBinding> bindings) {
        return bindings.stream().map(AclBinding::toFilter).toList();
    }

    /** Lets every client read so many bytes a second; 0: as many as it likes. */
    private static void throttle(Admin admin, double bytesPerSecond) throws Exception {
        var everybody = new ClientQuotaEntity(java.util.Collections.singletonMap(ClientQuotaEntity.CLIENT_ID, null));
        Double limit = bytesPerSecond > 0 ? bytesPerSecond : null;
        var change = new ClientQuotaAlteration.Op("consumer_byte_rate", limit);
        admin.alterClientQuotas(List.of(new ClientQuotaAlteration(everybody, List.of(change)))).all().get();
    }

    /** Writes records: topic, partition, then for each key, value and `fas` header in hexadecimal, `-` for none. */
    private static void write(String brokers, String[] args) throws Exception {
        var bytes = new ByteArraySerializer();
        try (var producer = new KafkaProducer<byte[], byte[]>(Map.of("bootstrap.servers", brokers), bytes, bytes)) {
            for (int i = 4; i < args.length; i += 3) {
                var record = new ProducerRecord<>(args[2], Integer.parseInt(args[3]), hex(args[i]), hex(args[i + 1]));
                Optional.ofNullable(hex(args[i + 2])).ifPresent(header -> record.headers().add("fas", header));
                System.out.println(producer.send(record).get().offset());
            }
        }
    }

    private static byte[] hex(String text) {
        return text.equals("-") ? null : HEX.parseHex(text);
    }
}
