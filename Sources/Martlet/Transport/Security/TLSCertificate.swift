#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An X.509 certificate: an authority to trust, or a server to pin.
///
/// ```swift
/// let authorities = try TLSCertificate.all(pem: String(contentsOf: url, encoding: .utf8))
/// ```
public struct TLSCertificate: Sendable, Hashable {
    /// The certificate in DER.
    public let der: Data
    /// Its `SubjectPublicKeyInfo` in DER. Not stored: a stored property would take part in `==`.
    var publicKey: Data { DERReader.publicKey(ofCertificate: [UInt8](der)).map { Data($0) } ?? Data() }

    /// Creates a certificate from DER.
    /// - Throws: ``TransportSettingsError/invalidCertificate(_:)`` if the bytes are not a certificate.
    public init(der: Data) throws(TransportSettingsError) {
        guard DERReader.publicKey(ofCertificate: [UInt8](der)) != nil else {
            throw .invalidCertificate("The bytes are not a certificate in DER.")
        }
        self.der = der
    }

    /// All certificates of a PEM text, in their order. Other blocks are skipped.
    /// - Throws: ``TransportSettingsError/invalidCertificate(_:)`` if one cannot be read, or if there is none.
    public static func all(pem text: String) throws(TransportSettingsError) -> [TLSCertificate] {
        guard let blocks = PEMBlock.all(in: text) else {
            throw .invalidCertificate("The text is not valid PEM.")
        }
        var certificates: [TLSCertificate] = []
        for block in blocks where block.label == "CERTIFICATE" {
            certificates.append(try TLSCertificate(der: block.bytes))
        }
        guard !certificates.isEmpty else {
            throw .invalidCertificate("The text contains no certificate (-----BEGIN CERTIFICATE-----).")
        }
        return certificates
    }
}
