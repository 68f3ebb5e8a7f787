package com.acme;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** The way to a service: one question in, one answer out. Used by several threads at the same time. */
final class Service {
    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();
    private final URI address;

    Service(String address) {
        this.address = URI.create(address);
    }

    /** Asks under an idempotency key: asked again under the same, the service does not do again what it did. */
    String ask(String question, String key) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(address)
                .header("Idempotency-Key", key)
                .POST(HttpRequest.BodyPublishers.ofString(question))
                .build();
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException("the service says " + response.statusCode() + ": " + response.body());
        }
        return response.body();
    }
}
