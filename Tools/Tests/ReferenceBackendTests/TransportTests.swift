import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL
import ReferenceBackend
import Testing

@Suite("Endpoints for tests of transports", .timeLimit(.minutes(10)))
struct TransportTests {
    @Test("Echo returns the request", arguments: ["GET", "POST", "PUT", "DELETE", "PROPFIND"])
    func echo(method: String) async throws {
        try await withBackend { backend, client in
            let response = try await client.send(
                method, "/_control/echo?a=b%20c", headers: [("X-Order", "1"), ("x-order", "2")],
                body: method == "GET" ? nil : .bytes(ByteBuffer(string: "hello")))
            #expect(response["method"]?.stringValue == method)
            #expect(response["query"] == "a=b%20c")
            #expect(response["authority"]?.stringValue == "127.0.0.1:\(backend.port)")
            let headers = response["headers"]?.arrayValue ?? []
            #expect(headers.contains(["X-Order", "1"]))
            #expect(headers.contains(["x-order", "2"]))
            if method != "GET" {
                #expect(response["bodyText"] == "hello")
                #expect(
                    response["bodySha256"] == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
            }
        }
    }

    @Test("Any status can be requested, with fields and a body")
    func status() async throws {
        try await withBackend { _, client in
            let path = "/_control/status/418?header.Retry-After=3&body=short%20and%20stout&contentType=text/x-pot"
            let response = try await client.get(path)
            #expect(response.status == 418)
            #expect(response.header("Retry-After") == "3")
            #expect(response.header("Content-Type") == "text/x-pot")
            #expect(response.text == "short and stout")
            #expect(try await client.get("/_control/status/7").status == 400)
        }
    }

    @Test("Any number of bytes can be requested, with or without a length")
    func bytes() async throws {
        try await withBackend { _, client in
            let expected = (0..<100_000).map { UInt8($0 % 251) }
            let announced = try await client.get("/_control/bytes?count=100000&chunk=777")
            #expect(announced.bytes == expected)
            #expect(announced.header("Content-Length") == "100000")
            let chunked = try await client.get("/_control/bytes?count=100000&length=false")
            #expect(chunked.bytes == expected)
            #expect(chunked.header("Content-Length") == nil)
            #expect(try await client.get("/_control/drip?count=3&size=2&intervalMs=1").text == "......")
        }
    }

    @Test("A response falls quiet after its head or some bytes, until it is released", arguments: [0, 511])
    func quiet(count: Int) async throws {
        try await withBackend { backend, client in
            let url = "\(backend.baseURL)/_control/quiet?count=\(count)&contentType=text/plain"
            let response = try await client.client.execute(HTTPClientRequest(url: url), timeout: .seconds(30))
            #expect(response.headers.first(name: "Content-Type") == "text/plain")
            #expect(response.headers.first(name: "Content-Length") == nil)
            try await backend.controls.waitUntilHanging(1)
            backend.controls.releaseHangs()
            let body = try await response.body.collect(upTo: 1024)
            #expect(Array(body.readableBytesView) == Array(repeating: UInt8(ascii: "."), count: count))
        }
    }

    @Test("A body is sent as a frame of Zstandard")
    func zstandard() async throws {
        try await withBackend { _, client in
            let response = try await client.get("/_control/zstd?body=martlet")
            #expect(response.header("Content-Encoding") == "zstd")
            let head: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 7, 7 << 3 | 1, 0, 0]
            #expect(response.bytes == head + Array("martlet".utf8))
            let tooLong = String(repeating: "a", count: 256)
            #expect(try await client.get("/_control/zstd?body=\(tooLong)").status == 400)
        }
    }

    @Test("Empty, forbidden, challenge and redirect responses can be requested")
    func others() async throws {
        try await withBackend { _, client in
            let empty = try await client.get("/_control/empty")
            #expect(empty.status == 200)
            #expect(empty.bytes.isEmpty)
            #expect(try await client.get("/_control/empty?status=204").status == 204)
            #expect(try await client.get("/_control/forbidden").status == 403)
            let challenge = try await client.get("/_control/basic-challenge")
            #expect(challenge.status == 401)
            #expect(challenge.header("WWW-Authenticate")?.hasPrefix("Basic ") == true)
            let redirected = try await client.post("/_control/redirect?status=307&to=/_control/echo", ["a": 1])
            #expect(redirected["method"] == "POST")
            #expect(redirected["bodyText"] == "{\"a\":1}")
        }
    }

    @Test("GraphQL always returns 200")
    func graphQL() async throws {
        try await withBackend { _, client in
            let session = try await TestSession(on: client)
            let refused = try await client.post("/_control/graphql")
            #expect(refused.status == 200)
            #expect(refused["errors"]?.arrayValue?.first?["extensions"]?["code"] == "UNAUTHENTICATED")
            let response = try await client.with(session.accessToken).post("/_control/graphql")
            #expect(response["data", "me"] == "Wren")
        }
    }

    @Test("TLS supports HTTP/2 and HTTP/1.1 with a certificate of the backend's authority", arguments: [true, false])
    func tls(isHTTP2: Bool) async throws {
        try await withBackend(.cookie, configure: { $0.tls = .selfSigned }) { backend, client in
            let pem = try #require(backend.certificateAuthorityPEM)
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)))
            let trusting = TestClient.make {
                $0.httpVersion = isHTTP2 ? .automatic : .http1Only
                $0.tlsConfiguration = tls
            }
            var client = client
            client.client = trusting
            do {
                let session = try await TestSession(on: client)
                let response = try await client.with(session.accessToken).get("/me")
                #expect(response.status == 200)
                #expect(response.version == (isHTTP2 ? "HTTP/2.0" : "HTTP/1.1"))
                let refreshed = try await client.refresh(session.refreshToken, .cookie)
                #expect(refreshed.header("Set-Cookie")?.contains("Secure") == true)
                backend.controls.inject("/public/ping", .dropConnection)
                await #expect(throws: (any Error).self) { try await client.get("/public/ping") }
                let name = backend.baseURL.replacing("127.0.0.1", with: "localhost")
                #expect(try await client.get("\(name)/public/ping").status == 200)
            } catch {
                try await trusting.shutdown()
                throw error
            }
            await backend.stop()
            #expect(backend.controls.counters.connectionsOpen == 0)
            try await trusting.shutdown()
        }
    }
}
