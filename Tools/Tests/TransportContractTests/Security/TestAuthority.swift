import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

@testable import Martlet

/// A certificate authority of a test.
struct TestAuthority: Sendable {
    let certificate: TLSCertificate
    private let name: DistinguishedName
    private let key = Certificate.PrivateKey(P256.Signing.PrivateKey())

    init() throws {
        name = try DistinguishedName { CommonName("Authority \(UUID())") }
        let signed = try Self.sign(
            key.publicKey, subject: name, issuer: name, by: key, Self.today,
            Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
            })
        certificate = try TLSCertificate(der: Data(try signed.serializeAsPEM().derBytes))
    }

    /// The settings of a client that trusts this authority alone.
    func trusting(_ adjust: (inout TLSSettings) throws -> Void = { _ in }) throws -> TLSSettings {
        var tls = TLSSettings.system
        tls.authorities = .only([certificate])
        try adjust(&tls)
        return tls
    }

    static var today: ClosedRange<Date> { Date(timeIntervalSinceNow: -3600)...Date(timeIntervalSinceNow: 86_400) }
    static var lastYear: ClosedRange<Date> {
        Date(timeIntervalSinceNow: -366 * 86_400)...Date(timeIntervalSinceNow: -86_400)
    }

    /// Issues a certificate for a server or client. By default the server is 127.0.0.1.
    func issue(
        host: String? = nil, key: P256.Signing.PrivateKey = .init(), valid: ClosedRange<Date> = today
    ) throws -> TestIdentity {
        let subject = try DistinguishedName { CommonName("test") }
        let names =
            host.map { SubjectAlternativeNames([.dnsName($0)]) }
            ?? SubjectAlternativeNames([.ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))])
        let signed = try Self.sign(
            Certificate.PrivateKey(key).publicKey, subject: subject, issuer: name, by: self.key, valid,
            Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth, .clientAuth])
                names
            })
        return TestIdentity(certificatePEM: try signed.serializeAsPEM().pemString, key: key)
    }

    /// A certificate that a router makes for itself: for ten years, and with a common name as its only name.
    static func selfSigned(host: String) throws -> TestIdentity {
        let key = P256.Signing.PrivateKey()
        let (name, own) = (try DistinguishedName { CommonName(host) }, Certificate.PrivateKey(key))
        let years = Date(timeIntervalSinceNow: -86_400)...Date(timeIntervalSinceNow: 3650 * 86_400)
        let signed = try sign(own.publicKey, subject: name, issuer: name, by: own, years, Certificate.Extensions {})
        return TestIdentity(certificatePEM: try signed.serializeAsPEM().pemString, key: key)
    }

    private static func sign(
        _ key: Certificate.PublicKey, subject: DistinguishedName, issuer: DistinguishedName,
        by issuerKey: Certificate.PrivateKey, _ valid: ClosedRange<Date>, _ extensions: Certificate.Extensions
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key,
            notValidBefore: valid.lowerBound, notValidAfter: valid.upperBound, issuer: issuer, subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions, issuerPrivateKey: issuerKey)
    }
}

/// A certificate with its private key.
struct TestIdentity: Sendable {
    let certificatePEM: String
    let key: P256.Signing.PrivateKey

    var keyPEM: Secret { Secret(key.pemRepresentation) }

    var certificate: TLSCertificate {
        get throws { try TLSCertificate.all(pem: certificatePEM)[0] }
    }

    var nioCertificates: [NIOSSLCertificate] {
        get throws { try NIOSSLCertificate.fromPEMBytes(Array(certificatePEM.utf8)) }
    }

    var nioKey: NIOSSLPrivateKey {
        get throws { try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem) }
    }

    func pkcs12(passphrase: String) throws -> Data {
        let bundle = NIOSSLPKCS12Bundle(certificateChain: try nioCertificates, privateKey: try nioKey)
        return Data(try bundle.serialize(passphrase: Array(passphrase.utf8)))
    }
}
