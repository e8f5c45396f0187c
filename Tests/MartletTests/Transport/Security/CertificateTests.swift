import Foundation
import Testing

@testable import Martlet

@Suite("Certificates", .timeLimit(.minutes(10)))
struct CertificateTests {
    @Test(
        "The public key of a certificate is found",
        arguments: [
            (CertificateFixtures.ec, CertificateFixtures.ecKey), (CertificateFixtures.rsa, CertificateFixtures.rsaKey),
            (CertificateFixtures.version1, CertificateFixtures.ecKey),
        ])
    func publicKey(certificate: String, key: String) throws {
        let found = try #require(TLSCertificate.all(pem: certificate).first).publicKey
        #expect(found == PEMBlock.all(in: key)?.first?.bytes)
    }

    @Test("All certificates of a text are read in order, and its other blocks are skipped")
    func several() throws {
        let text =
            "the company's root\r\n" + CertificateFixtures.ec + "\n" + CertificateFixtures.ecKey + "\n  "
            + CertificateFixtures.rsa.replacingOccurrences(of: "\n", with: "\r\n")
        let certificates = try TLSCertificate.all(pem: text)
        #expect(
            try certificates == TLSCertificate.all(pem: CertificateFixtures.ec)
                + TLSCertificate.all(pem: CertificateFixtures.rsa))
    }

    @Test(
        "A text without a complete certificate is refused",
        arguments: [
            "", "no PEM", CertificateFixtures.ecKey, String(CertificateFixtures.ec.dropLast(30)),
            CertificateFixtures.ec.replacingOccurrences(of: "MIIB", with: "MI*B"),
            CertificateFixtures.ec.replacingOccurrences(of: "MIIB", with: "MIIC"),
            "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\n" + CertificateFixtures.ec,
        ])
    func incomplete(text: String) {
        #expect(throws: TransportSettingsError.self) { try TLSCertificate.all(pem: text) }
    }

    @Test("A certificate that is cut anywhere is refused")
    func truncated() throws {
        let der = try #require(TLSCertificate.all(pem: CertificateFixtures.rsa).first).der
        for count in 0..<der.count {
            #expect(throws: TransportSettingsError.self) { try TLSCertificate(der: der.prefix(count)) }
        }
        #expect(throws: TransportSettingsError.self) { try TLSCertificate(der: der + [0]) }
    }

    @Test("Changed and random bytes never end the process")
    func garbage() throws {
        var random = SystemRandomNumberGenerator()
        for text in [CertificateFixtures.ec, CertificateFixtures.rsa, CertificateFixtures.version1] {
            let der = [UInt8](try #require(TLSCertificate.all(pem: text).first).der)
            for _ in 0..<2000 {
                var changed = der
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    changed[Int.random(in: changed.indices, using: &random)] = .random(
                        in: .min ... .max, using: &random)
                }
                if let key = DERReader.publicKey(ofCertificate: changed) { #expect(DERReader.isPublicKey(key)) }
            }
        }
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ -> UInt8 in
                [0x30, 0x82, 0x02, 0xA0, .random(in: .min ... .max, using: &random)].randomElement(using: &random) ?? 0
            }
            #expect(DERReader.publicKey(ofCertificate: bytes) == nil)
        }
    }

    @Test("Lengths that are indefinite, too long or longer than necessary are refused")
    func lengths() {
        for bytes: [UInt8] in [
            [0x30], [0x30, 0x80, 0, 0], [0x30, 0x81, 0x01, 0], [0x30, 0x82, 0, 0x80],
            [0x30, 0x84, 0x7F, 0xFF, 0xFF, 0xFF],
            [0x30, 0xFF], [0x30, 0x02, 0], [0x3F, 0x01, 0],
        ] {
            var reader = DERReader(bytes[...])
            #expect(reader.next() == nil)
        }
    }

    @Test("An identity shows neither its key nor its passphrase")
    func redacted() throws {
        let key: Secret = "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----"
        let identity = try ClientIdentity(pem: CertificateFixtures.ec, privateKey: key, passphrase: "opensesame")
        var settings = TLSSettings.system
        settings.identity = identity
        var text = "\(settings) \(identity)"
        dump(settings, to: &text)
        dump(ClientIdentity(pkcs12: Data("c2VjcmV0".utf8), passphrase: "opensesame"), to: &text)
        #expect(!text.contains("c2VjcmV0") && !text.contains("opensesame"))
        #expect(throws: TransportSettingsError.self) {
            try ClientIdentity(pem: CertificateFixtures.ec, privateKey: "c2VjcmV0")
        }
    }
}
