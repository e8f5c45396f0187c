import Crypto
import Foundation
import Testing

@testable import Martlet

extension TransportContract {
    /// The certificates of a trusted authority that a transport accepts.
    @Suite("Pinning", .timeLimit(.minutes(10)))
    struct PinningTests {
        private let authority: TestAuthority

        init() throws { authority = try TestAuthority() }

        @Test("A pinned key is accepted, and so is the backup after a rotation", arguments: SecureKind.allCases)
        func pinned(_ kind: SecureKind) async throws {
            let first = try authority.issue()
            let backup = try authority.issue()
            let tls = try authority.trusting {
                $0.pins = [
                    try PinnedHost(
                        "127.0.0.1", pins: [.publicKey(of: first.certificate), .publicKey(of: backup.certificate)])
                ]
            }
            // The renewed certificate has the same key.
            for identity in [first, try authority.issue(key: first.key), backup] {
                try await SecureServer.run(identity) { server in
                    try await kind.withTransport(tls) { transport in
                        for _ in 1...2 { try await expectAnswer("127.0.0.1:\(server.port)", over: transport) }
                        let isolated = transport.makeIsolatedTransport()
                        try await expectAnswer("127.0.0.1:\(server.port)", over: isolated)
                    }
                }
            }
        }

        @Test("A key is pinned by its SHA-256", arguments: SecureKind.allCases)
        func digest(_ kind: SecureKind) async throws {
            let identity = try authority.issue()
            let digest = SHA256.hash(data: identity.key.publicKey.derRepresentation)
            let pin = try TLSPin.publicKey(sha256: "sha256/" + Data(digest).base64EncodedString())
            for (identity, isPinned) in [(identity, true), (try authority.issue(), false)] {
                let tls = try authority.trusting {
                    $0.pins = [try PinnedHost("127.0.0.1", pins: [pin], expires: .distantFuture)]
                }
                try await SecureServer.run(identity) { server in
                    try await kind.withTransport(tls) { transport in
                        let reason = try await tlsFailure {
                            try await get("127.0.0.1:\(server.port)", over: transport)
                        }
                        #expect((reason == nil) == isPinned)
                    }
                }
            }
            let ones = Data(repeating: 0xFF, count: 32).base64EncodedString()
            let spellings = try ["", "sha256/", "sha256//"].map { try TLSPin.publicKey(sha256: $0 + ones) }
            #expect(Set(spellings).count == 1)
            for text in ["", "c2hvcnQ=", "sha1/AAAA", "%%"] {
                #expect(throws: TransportSettingsError.self) { try TLSPin.publicKey(sha256: text) }
            }
        }

        @Test(
            "A server that matches no pin gets no byte of a request, and its connection is closed",
            arguments: SecureKind.allCases)
        func mismatch(_ kind: SecureKind) async throws {
            let pins = [
                TLSPin.publicKey(of: try authority.issue().certificate),
                .certificate(try authority.issue().certificate),
            ]
            let tls = try authority.trusting { $0.pins = [try PinnedHost("127.0.0.1", pins: pins)] }
            try await SecureServer.run(authority.issue()) { server in
                try await kind.withTransport(tls) { transport in
                    for sender in [transport, transport.makeIsolatedTransport()] {
                        let reason = try await tlsFailure { try await get("127.0.0.1:\(server.port)", over: sender) }
                        #expect(reason == "the server's certificate does not match a pin of 127.0.0.1")
                    }
                    await server.allClosed()
                    #expect(server.received.with { $0.isEmpty })
                }
            }
        }

        @Test("A transport survives its shutdown while connections are refused")
        func shutdown() async throws {
            let pins = [TLSPin.certificate(try authority.issue().certificate)]
            let tls = try authority.trusting {
                $0.pins = [try PinnedHost("127.0.0.1", pins: pins, expires: .distantFuture)]
            }
            try await SecureServer.run(authority.issue()) { server in
                let port = server.port
                for _ in 1...20 {
                    let transport = try AsyncHTTPClientTransport(tls: tls)
                    let calls = (1...2).map { _ in
                        Task { try await get("127.0.0.1:\(port)", over: transport) }
                    }
                    let error = await #expect(throws: (any Error).self) { try await calls[0].value }
                    #expect(error is TransportError)
                    try await transport.shutdown()
                    await #expect(throws: (any Error).self) { try await calls[1].value }
                }
                #expect(server.received.with { $0.isEmpty })
            }
        }

        @Test("Pins that have expired, and those of other hosts, are not enforced", arguments: SecureKind.allCases)
        func unenforced(_ kind: SecureKind) async throws {
            let pins = [TLSPin.certificate(try authority.issue().certificate)]
            let tls = try authority.trusting {
                $0.pins = [
                    try PinnedHost("127.0.0.1", pins: pins, expires: .distantPast),
                    try PinnedHost("other.example", pins: pins, expires: .distantFuture),
                ]
            }
            try await SecureServer.run(authority.issue()) { server in
                try await kind.withTransport(tls) { transport in
                    try await expectAnswer("127.0.0.1:\(server.port)", over: transport)
                }
            }
        }

        @Test("Another spelling of a pinned host does not evade its pins", arguments: SecureKind.allCases)
        func spelling(_ kind: SecureKind) async throws {
            let pins = [TLSPin.certificate(try authority.issue().certificate)]
            let tls = try authority.trusting {
                $0.pins = [try PinnedHost("localhost", pins: pins, expires: .distantFuture)]
            }
            try await SecureServer.run(authority.issue(host: "localhost")) { server in
                try await kind.withTransport(tls) { transport in
                    for host in ["localhost", "LOCALHOST", "localhost.", "%6Cocalhost", "ⅼocalhost"] {
                        await #expect(throws: TransportError.self) {
                            try await get("\(host):\(server.port)", over: transport)
                        }
                    }
                    #expect(server.received.with { $0.isEmpty })
                }
            }
        }
    }
}
