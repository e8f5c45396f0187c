import Foundation
import HTTPTypes
import Martlet
import Testing

extension TransportContract {
    /// Requests through a proxy.
    @Suite("Proxies", .timeLimit(.minutes(10)))
    struct ProxyTests {
        private let authority: TestAuthority
        private let tls: TLSSettings

        init() throws {
            authority = try TestAuthority()
            tls = try authority.trusting()
        }

        private static let proxies: [LoopbackProxy.Kind] = [.http(), .socks5]

        private static func settings(
            _ kind: LoopbackProxy.Kind, _ port: Int, except hosts: [String] = []
        ) -> ProxySettings {
            switch kind {
            case .http, .refusingHTTP: .http(host: "127.0.0.1", port: port, except: hosts)
            case .socks5, .refusingSOCKS5: .socks5(host: "127.0.0.1", port: port, except: hosts)
            }
        }

        @Test("A proxy carries https and looks up the host, but sees no token", arguments: SecureKind.allCases)
        func https(_ kind: SecureKind) async throws {
            // The name is known to the proxy only.
            try await SecureServer.run(authority.issue(host: "server.example")) { server in
                for proxy in Self.proxies {
                    server.received.with { $0 = "" }
                    try await LoopbackProxy.run(proxy) { running in
                        try await kind.withTransport(tls, Self.settings(proxy, running.port)) { transport in
                            let authority = "server.example:\(server.port)"
                            try await expectAnswer(authority, over: transport)
                            try await expectAnswer(authority, over: transport.makeIsolatedTransport())
                        }
                        #expect(server.received.with { $0.contains("s3cret") })
                        #expect(running.seen.with { $0.contains("server.example") && !$0.contains("s3cret") })
                    }
                }
            }
        }

        @Test("Pins hold behind a proxy, and nothing is sent to another server", arguments: SecureKind.allCases)
        func pins(_ kind: SecureKind) async throws {
            let expected = try authority.issue(host: "server.example")
            var pinned = tls
            pinned.pins = [
                try PinnedHost("server.example", pins: [.publicKey(of: expected.certificate)], expires: .distantFuture)
            ]
            for (identity, isExpected) in [(expected, true), (try authority.issue(host: "server.example"), false)] {
                try await SecureServer.run(identity) { server in
                    for proxy in Self.proxies {
                        try await LoopbackProxy.run(proxy) { running in
                            try await kind.withTransport(pinned, Self.settings(proxy, running.port)) { transport in
                                let reason = try await tlsFailure {
                                    try await get("server.example:\(server.port)", over: transport)
                                }
                                #expect((reason == nil) == isExpected)
                            }
                        }
                    }
                    #expect(server.received.with { $0.isEmpty } == !isExpected)
                }
            }
        }

        @Test("A proxy that demands a login gets it", arguments: SecureKind.allCases)
        func login(_ kind: SecureKind) async throws {
            let expected = "Basic " + Data("user:hunter2".utf8).base64EncodedString()
            try await SecureServer.run(authority.issue()) { server in
                try await LoopbackProxy.run(.http(authorization: expected)) { running in
                    for (password, isRight) in [("hunter2", true), ("wrong", false)] as [(Secret, Bool)] {
                        let proxy = ProxySettings.http(
                            host: "127.0.0.1", port: running.port, user: "user", password: password)
                        try await kind.withTransport(tls, proxy) { transport in
                            do {
                                try await expectAnswer("127.0.0.1:\(server.port)", over: transport)
                                #expect(isRight)
                            } catch TransportError.cannotConnect(let reason) {
                                #expect(!isRight && reason == "the proxy refused")
                            }
                        }
                    }
                    // The login is for the proxy alone.
                    #expect(server.received.with { !$0.lowercased().contains("proxy-authorization") })
                }
            }
        }

        @Test("A proxy that refuses to connect, or is not there, gives cannotConnect", arguments: SecureKind.allCases)
        func refusals(_ kind: SecureKind) async throws {
            let refusals: [LoopbackProxy.Kind] = [
                .refusingHTTP(Array("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n".utf8)),
                .refusingHTTP(Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".utf8)),
                .refusingSOCKS5([5, 5, 0, 1, 0, 0, 0, 0, 0, 0]),
            ]
            var port = 0
            for refusal in refusals {
                try await LoopbackProxy.run(refusal) { running in
                    port = running.port
                    try await kind.withTransport(tls, Self.settings(refusal, port)) { transport in
                        let error = await #expect(throws: TransportError.self) {
                            try await get("server.example", over: transport)
                        }
                        guard case .cannotConnect("the proxy refused") = error else { throw try #require(error) }
                        #expect(running.seen.with { !$0.contains("s3cret") })
                    }
                }
            }
            for proxy in Self.proxies {
                try await kind.withTransport(tls, Self.settings(proxy, port)) { transport in
                    let error = await #expect(throws: TransportError.self) {
                        try await get("server.example", over: transport)
                    }
                    guard case .cannotConnect = error else { throw try #require(error) }
                }
            }
        }

        @Test("A host that is an exception is reached without the proxy", arguments: SecureKind.allCases)
        func exceptions(_ kind: SecureKind) async throws {
            try await SecureServer.run(authority.issue()) { server in
                for proxy in Self.proxies {
                    try await LoopbackProxy.run(proxy) { running in
                        let settings = Self.settings(proxy, running.port, except: ["127.0.0.0/8"])
                        try await kind.withTransport(tls, settings) { transport in
                            try await expectAnswer("127.0.0.1:\(server.port)", over: transport)
                        }
                        #expect(running.seen.with { $0.isEmpty })
                    }
                }
            }
        }

        @Test("Plain http goes through the proxy too", arguments: SecureKind.allCases)
        func http(_ kind: SecureKind) async throws {
            let server = try await WireServer.start { connection in
                _ = try await connection.readRequest()
                try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
            }
            for proxy in Self.proxies {
                try await LoopbackProxy.run(proxy) { running in
                    try await kind.withTransport(tls, Self.settings(proxy, running.port)) { transport in
                        let status = try await get("server.example:\(server.port)", scheme: "http", over: transport)
                        #expect(status == 200)
                    }
                    #expect(running.seen.with { $0.contains("server.example") })
                }
            }
            await server.stop()
        }
    }
}
