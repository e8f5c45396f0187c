import Foundation
import Testing

@testable import Martlet

@Suite("Pinning", .timeLimit(.minutes(10)))
struct PinningTests {
    private let ec: TLSCertificate
    private let rsa: TLSCertificate
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    init() throws {
        ec = try #require(TLSCertificate.all(pem: CertificateFixtures.ec).first)
        rsa = try #require(TLSCertificate.all(pem: CertificateFixtures.rsa).first)
    }

    @Test("A pinned certificate or key matches, and another does not")
    func matching() throws {
        #expect(TLSPin.certificate(ec).matches(ec) && !TLSPin.certificate(ec).matches(rsa))
        #expect(TLSPin.publicKey(of: ec).matches(ec) && !TLSPin.publicKey(of: ec).matches(rsa))
        #expect(try TLSPin.publicKey(pem: CertificateFixtures.rsaKey).matches(rsa))
        let renewed = try #require(TLSCertificate.all(pem: CertificateFixtures.version1).first)
        #expect(TLSPin.publicKey(of: ec).matches(renewed) && !TLSPin.certificate(ec).matches(renewed))
    }

    @Test(
        "A text that is not one public key is refused",
        arguments: ["", "x", CertificateFixtures.ec, CertificateFixtures.ecKey + "\n" + CertificateFixtures.rsaKey])
    func badKey(text: String) {
        #expect(throws: TransportSettingsError.self) { try TLSPin.publicKey(pem: text) }
    }

    #if canImport(CryptoKit) || Encryption
        @Test("The digest of a key is that of OpenSSL", arguments: ["", "sha256/", "sha256//"])
        func digest(prefix: String) throws {
            #expect(try TLSPin.publicKey(sha256: prefix + CertificateFixtures.ecDigest).matches(ec))
            #expect(try TLSPin.publicKey(sha256: prefix + CertificateFixtures.rsaDigest).matches(rsa))
            #expect(try !TLSPin.publicKey(sha256: prefix + CertificateFixtures.rsaDigest).matches(ec))
        }

        @Test("A digest of another length is refused", arguments: ["", "sha256/", "c2hvcnQ=", "sha1/AAAA", "%%"])
        func badDigest(text: String) {
            #expect(throws: TransportSettingsError.self) { try TLSPin.publicKey(sha256: text) }
        }
    #endif

    @Test("One pin alone must expire, and no pin at all is refused")
    func backup() throws {
        #expect(throws: TransportSettingsError.self) { try PinnedHost("a.example", pins: []) }
        #expect(throws: TransportSettingsError.self) { try PinnedHost("a.example", pins: [.certificate(ec)]) }
        #expect(throws: TransportSettingsError.self) {
            try PinnedHost("a.example", pins: [.certificate(ec), .certificate(ec)])
        }
        _ = try PinnedHost("a.example", pins: [.certificate(ec)], expires: now)
        _ = try PinnedHost("a.example", pins: [.certificate(ec), .publicKey(of: rsa)])
    }

    @Test("Pins hold until they expire")
    func expiry() throws {
        let host = try PinnedHost("a.example", pins: [.publicKey(of: ec)], expires: now)
        #expect(host.accepts(ec.der, at: now - 1) && !host.accepts(rsa.der, at: now - 1))
        #expect(host.accepts(rsa.der, at: now) && host.accepts(Data(), at: now))
    }

    @Test("Without a certificate that can be read, a pinned host is refused")
    func unreadable() throws {
        let host = try PinnedHost("a.example", pins: [.publicKey(of: ec), .publicKey(of: rsa)])
        #expect(!host.accepts(Data(), at: now) && !host.accepts(ec.der.dropLast(), at: now))
    }

    @Test(
        "A text that is not a host cannot be pinned",
        arguments: [
            "", "https://a.example", "a.example/x", "*.a.example", ".example", "bücher.example", "a%2Eexample", "a b",
        ]
    )
    func badHost(host: String) {
        #expect(throws: TransportSettingsError.self) {
            try PinnedHost(host, pins: [.publicKey(of: ec), .publicKey(of: rsa)])
        }
    }

    @Test("The longest name that covers a host decides, whatever the spelling")
    func choice() throws {
        let pins = [TLSPin.publicKey(of: ec), .publicKey(of: rsa)]
        var settings = TLSSettings.system
        settings.pins = [
            try PinnedHost("Example.com", includesSubdomains: true, pins: pins),
            try PinnedHost("api.example.com.", pins: pins),
            try PinnedHost("::1", pins: pins),
        ]
        func decides(_ authority: String) -> String? {
            HostAndPort(authority, defaultPort: 443).flatMap { settings.pinned($0.host)?.host }
        }
        #expect(decides("EXAMPLE.com.") == "example.com" && decides("x.y.example.com:8443") == "example.com")
        #expect(decides("API.example.com") == "api.example.com" && decides("x.api.example.com") == "example.com")
        #expect(decides("notexample.com") == nil && decides("example.com.evil.example") == nil)
        #expect(decides("[::1]:8443") == "::1")
        #expect(HostAndPort("ex%61mple.com", defaultPort: 443) == nil)
        try settings.validate()
        settings.pins.append(try PinnedHost("example.com", pins: pins))
        #expect(throws: TransportSettingsError.self) { try settings.validate() }
    }

    @Test("A list of authorities that trusts no server is refused")
    func noAuthorities() {
        var settings = TLSSettings.system
        settings.authorities = .only([])
        #expect(throws: TransportSettingsError.self) { try settings.validate() }
    }

    @Test("A system that asks gets the authorities and the pins")
    func serverTrust() throws {
        var settings = TLSSettings.system
        settings.pins = [try PinnedHost("a.example", pins: [.publicKey(of: ec), .certificate(ec)])]
        let pinning = ServerTrust(settings: settings)
        #expect(pinning.judgement(for: "b.example") == .system && pinning.judgement(for: "a%2Eexample") == .refuse)
        #expect(pinning.judgement(for: "A.example") == .evaluate(anchors: nil, onlyAnchors: false))
        #expect(pinning.verdict(isTrusted: true, leaf: ec.der, for: "A.example", at: now) == nil)
        for (isTrusted, leaf) in [(true, rsa.der), (true, nil), (false, ec.der)] as [(Bool, Data?)] {
            #expect(pinning.verdict(isTrusted: isTrusted, leaf: leaf, for: "a.example", at: now) != nil)
        }
        settings.authorities = .only([rsa])
        #expect(
            ServerTrust(settings: settings).judgement(for: "b.example")
                == .evaluate(anchors: [rsa.der], onlyAnchors: true))
        settings.authorities = .systemAnd([rsa])
        #expect(
            ServerTrust(settings: settings).judgement(for: "b.example")
                == .evaluate(anchors: [rsa.der], onlyAnchors: false))
    }
}
