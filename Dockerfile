# The image of docker-compose.yml: this package, its Flink, and the example between two Kafka topics.

FROM python:3.11-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends maven openjdk-17-jdk-headless
WORKDIR /src
COPY . .
RUN mvn -B -ntp -q -f java-bridge/pom.xml package -Dmaven.test.skip=true
RUN mvn -B -ntp -q -f examples/kafka_to_kafka/pom.xml dependency:copy-dependencies -DoutputDirectory=/opt/connector
RUN python -m venv /opt/venv && /opt/venv/bin/pip install --no-cache-dir ".[demo]"

FROM python:3.11-slim-bookworm
# The folder of manual pages is what the Java package misses in a slim image.
RUN mkdir -p /usr/share/man/man1 \
    && apt-get update \
    && apt-get install -y --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home flink \
    && install -d -o flink -g flink /data
COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/connector /opt/connector
# The last two show the embedded interpreter where its packages are.
ENV FLINK_CONF_DIR=/opt/flink/conf \
    FLINK_LIB_DIR=/opt/flink/lib \
    FLINK_LOG_DIR=/tmp \
    PYTHONUNBUFFERED=1 \
    PATH=/opt/venv/bin:/opt/venv/lib/python3.11/site-packages/pyflink/bin:$PATH \
    PYTHONEXECUTABLE=/opt/venv/bin/python
RUN python -m examples.kafka_to_kafka.image /opt/flink
USER flink
WORKDIR /data
