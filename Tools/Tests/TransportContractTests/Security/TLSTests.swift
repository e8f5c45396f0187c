import Foundation
import NIOSSL
import Testing

@testable import Martlet

extension TransportContract {
    /// The servers that a transport with its own settings trusts.
    @Suite("TLS", .timeLimit(.minutes(10)))
    struct TLSTests {
        private let authority: TestAuthority

        init() throws { authority = try TestAuthority() }

        @Test(
            "A server of a trusted authority is trusted, alone or besides the system's", arguments: SecureKind.allCases)
        func trusted(_ kind: SecureKind) async throws {
            try await SecureServer.run(authority.issue()) { server in
                var besides = TLSSettings.system
                besides.authorities = .systemAnd([authority.certificate])
                for tls in [try authority.trusting(), besides] {
                    try await kind.withTransport(tls) { transport in
                        try await expectAnswer("127.0.0.1:\(server.port)", over: transport)
                        let isolated = transport.makeIsolatedTransport()
                        try await expectAnswer("127.0.0.1:\(server.port)", over: isolated)
                    }
                }
            }
        }

        @Test(
            "An unknown authority, another host and an expired certificate are refused", arguments: SecureKind.allCases)
        func untrusted(_ kind: SecureKind) async throws {
            let identities = [
                try TestAuthority().issue(), try authority.issue(host: "other.example"),
                try authority.issue(valid: TestAuthority.lastYear),
            ]
            for identity in identities {
                try await SecureServer.run(identity) { server in
                    try await kind.withTransport(try authority.trusting()) { transport in
                        let reason = try await tlsFailure {
                            try await get("127.0.0.1:\(server.port)", over: transport)
                        }
                        #expect(reason != nil && server.received.with { $0.isEmpty })
                    }
                }
            }
        }

        @Test("A certificate that a server has made for itself is its own authority", arguments: SecureKind.allCases)
        func selfSigned(_ kind: SecureKind) async throws {
            let (own, other) = try (
                TestAuthority.selfSigned(host: "localhost"), TestAuthority.selfSigned(host: "localhost")
            )
            var tls = TLSSettings.system
            tls.authorities = .only([try own.certificate])
            for identity in [own, other] {
                try await SecureServer.run(identity) { server in
                    try await kind.withTransport(tls) { transport in
                        guard identity.certificatePEM == other.certificatePEM else {
                            return try await expectAnswer("localhost:\(server.port)", over: transport)
                        }
                        let reason = try await tlsFailure { try await get("localhost:\(server.port)", over: transport) }
                        #expect(reason != nil)
                    }
                }
            }
        }

        @Test("A server with older versions of TLS only is refused", arguments: SecureKind.allCases)
        func versions(_ kind: SecureKind) async throws {
            let identity = try authority.issue()
            try await SecureServer.run(identity) {
                $0.minimumTLSVersion = .tlsv1
                $0.maximumTLSVersion = .tlsv11
            } _: { server in
                try await kind.withTransport(try authority.trusting()) { transport in
                    let reason = try await tlsFailure { try await get("127.0.0.1:\(server.port)", over: transport) }
                    #expect(reason != nil)
                }
            }
            try await SecureServer.run(identity) {
                $0.maximumTLSVersion = .tlsv12
            } _: { server in
                try await kind.withTransport(try authority.trusting()) { transport in
                    try await expectAnswer("127.0.0.1:\(server.port)", over: transport)
                }
                try await kind.withTransport(try authority.trusting { $0.minimumVersion = .tls13 }) { transport in
                    let reason = try await tlsFailure { try await get("127.0.0.1:\(server.port)", over: transport) }
                    #expect(reason != nil)
                }
            }
        }

        @Test("A server that demands a client certificate gets it, from PEM or PKCS#12", arguments: SecureKind.allCases)
        func clientCertificate(_ kind: SecureKind) async throws {
            let client = try authority.issue(host: "client.example")
            let identities = [
                try ClientIdentity(pem: client.certificatePEM, privateKey: client.keyPEM),
                ClientIdentity(pkcs12: try client.pkcs12(passphrase: "opensesame"), passphrase: "opensesame"),
            ]
            let stranger = try TestAuthority().issue()
            let wrong = try ClientIdentity(pem: stranger.certificatePEM, privateKey: stranger.keyPEM)
            let trusted = try NIOSSLCertificate(bytes: Array(authority.certificate.der), format: .der)
            try await SecureServer.run(authority.issue()) {
                $0.trustRoots = .certificates([trusted])
                $0.certificateVerification = .noHostnameVerification
            } _: { server in
                for identity in identities {
                    try await kind.withTransport(try authority.trusting { $0.identity = identity }) { transport in
                        try await expectAnswer("127.0.0.1:\(server.port)", over: transport)
                    }
                }
                server.received.with { $0 = "" }
                for identity in [nil, wrong] {
                    try await kind.withTransport(try authority.trusting { $0.identity = identity }) { transport in
                        await #expect(throws: TransportError.self) {
                            try await get("127.0.0.1:\(server.port)", over: transport)
                        }
                    }
                }
                #expect(server.received.with { $0.isEmpty })
            }
        }

        @Test("An identity that cannot be used is refused when the transport is created, without its secrets")
        func badIdentities() throws {
            let client = try authority.issue()
            let identities = [
                try ClientIdentity(pem: client.certificatePEM, privateKey: authority.issue().keyPEM),
                try ClientIdentity(
                    pem: client.certificatePEM,
                    privateKey: "-----BEGIN PRIVATE KEY-----\nb3BlbnNlc2FtZQ==\n-----END PRIVATE KEY-----"),
                ClientIdentity(pkcs12: try client.pkcs12(passphrase: "opensesame"), passphrase: "hunter2"),
                ClientIdentity(pkcs12: Data("no file".utf8), passphrase: "opensesame"),
                ClientIdentity(pkcs12: Data(), passphrase: ""),
            ]
            for identity in identities {
                let error = try #require(
                    #expect(throws: TransportSettingsError.self) {
                        try AsyncHTTPClientTransport(tls: authority.trusting { $0.identity = identity })
                    })
                guard case .invalidIdentity(let reason) = error else { throw error }
                #expect(!reason.contains("hunter2") && !reason.contains("opensesame"))
            }
        }

        #if canImport(FoundationNetworking)
            @Test("URLSession on Linux refuses the settings that it would ignore")
            func urlSessionOnLinux() throws {
                _ = try URLSessionTransport(tls: .system)
                var settings = [try authority.trusting(), .system, .system]
                settings[1].minimumVersion = .tls13
                settings[2].identity = ClientIdentity(pkcs12: Data(), passphrase: "")
                for tls in settings {
                    let error = #expect(throws: TransportSettingsError.self) { try URLSessionTransport(tls: tls) }
                    #expect(error.map { "\($0)" }?.contains("AsyncHTTPClientTransport") == true)
                }
                for proxy in [
                    ProxySettings.environment, .http(host: "p.example", port: 80), .socks5(host: "p.example"),
                ] {
                    #expect(throws: TransportSettingsError.self) {
                        try URLSessionTransport(tls: .system, proxy: proxy)
                    }
                }
            }
        #endif

        @Test("The public key in a certificate is the one that BoringSSL finds")
        func publicKeys() throws {
            for _ in 1...20 {
                let identity = try authority.issue()
                let expected = try identity.nioCertificates[0].extractPublicKey().toSPKIBytes()
                #expect(try identity.certificate.publicKey == Data(expected))
            }
        }
    }
}
