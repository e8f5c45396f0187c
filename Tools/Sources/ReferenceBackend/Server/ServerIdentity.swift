import Crypto
import Foundation
import NIOCore
import NIOSSL
import SwiftASN1
import X509

/// A certificate for the loopback names of this machine, signed by a certificate authority created with it.
struct ServerIdentity: Sendable {
    let authorityPEM: String
    let certificatePEM: String
    private let keyPEM: String

    private static let lifetime: TimeInterval = 24 * 60 * 60

    init() throws {
        let now = Date()
        let validity = now.addingTimeInterval(-3600)...now.addingTimeInterval(Self.lifetime)
        let authorityName = try DistinguishedName { CommonName("Martlet Reference Backend Authority") }
        let authorityKey = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let authority = try Self.certificate(
            subject: authorityName, publicKey: authorityKey.publicKey, issuer: authorityName, issuerKey: authorityKey,
            validity: validity,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
            })
        let serverKey = P256.Signing.PrivateKey()
        let server = try Self.certificate(
            subject: try DistinguishedName { CommonName("localhost") },
            publicKey: Certificate.PrivateKey(serverKey).publicKey, issuer: authorityName, issuerKey: authorityKey,
            validity: validity,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames([
                    .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                    .ipAddress(ASN1OctetString(contentBytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])),
                ])
            })
        authorityPEM = try authority.serializeAsPEM().pemString
        certificatePEM = try server.serializeAsPEM().pemString
        keyPEM = serverKey.pemRepresentation
    }

    func tlsConfiguration() throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificatePEM.utf8)).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem)))
        // Idle clients often do not respond to a closing alert, and stopping must not wait for them.
        configuration.shutdownTimeout = .milliseconds(50)
        return configuration
    }

    private static func certificate(
        subject: DistinguishedName, publicKey: Certificate.PublicKey, issuer: DistinguishedName,
        issuerKey: Certificate.PrivateKey, validity: ClosedRange<Date>, extensions: Certificate.Extensions
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: publicKey,
            notValidBefore: validity.lowerBound, notValidAfter: validity.upperBound, issuer: issuer, subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions, issuerPrivateKey: issuerKey)
    }
}
