#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

#if canImport(CryptoKit)
    internal import CryptoKit
#elseif Encryption
    internal import Crypto
#endif

/// A certificate or public key that a server of a ``PinnedHost`` may present.
///
/// Pin the public key: the server can then renew its certificate with the same key. Only the server's own certificate is
/// compared. To pin an authority, trust no other with ``TLSSettings/Authorities/only(_:)``.
public struct TLSPin: Sendable, Hashable {
    private enum Content: Hashable {
        case certificate(Data)
        case publicKey(Data)
        /// The SHA-256 of a public key.
        case digest(Data)
    }

    private let content: Content

    /// Exactly this certificate, until the server renews it.
    public static func certificate(_ certificate: TLSCertificate) -> TLSPin {
        TLSPin(content: .certificate(certificate.der))
    }

    /// The public key of this certificate.
    public static func publicKey(of certificate: TLSCertificate) -> TLSPin {
        TLSPin(content: .publicKey(certificate.publicKey))
    }

    /// A public key in PEM (`-----BEGIN PUBLIC KEY-----`), as `openssl pkey -pubout` writes it.
    /// - Throws: ``TransportSettingsError/invalidPins(_:)`` if the text is not one public key.
    public static func publicKey(pem: String) throws(TransportSettingsError) -> TLSPin {
        guard let blocks = PEMBlock.all(in: pem), blocks.count == 1, blocks[0].label == "PUBLIC KEY",
            DERReader.isPublicKey([UInt8](blocks[0].bytes)[...])
        else { throw .invalidPins("The text is not one public key (-----BEGIN PUBLIC KEY-----).") }
        return TLSPin(content: .publicKey(blocks[0].bytes))
    }

    #if canImport(CryptoKit) || Encryption
        /// The SHA-256 of a public key in base64, with or without `sha256/` before it: the `pin-sha256` of RFC 7469,
        /// section 2.4, as OkHttp, curl and Android's network security configuration take it.
        ///
        /// On Linux it needs the trait `Encryption`.
        /// - Throws: ``TransportSettingsError/invalidPins(_:)`` if the text is not the base64 of 32 bytes.
        public static func publicKey(sha256 text: String) throws(TransportSettingsError) -> TLSPin {
            var base64 = text.hasPrefix("sha256/") ? text.dropFirst(7) : text[...]
            // curl writes two slashes, but the first digit of 44 may be a slash, too.
            if base64.utf8.count == 45, base64.hasPrefix("/") { base64 = base64.dropFirst() }
            guard let digest = Data(base64Encoded: String(base64)), digest.count == SHA256.Digest.byteCount else {
                throw .invalidPins("The pin is not the SHA-256 of a public key in base64.")
            }
            return TLSPin(content: .digest(digest))
        }
    #endif

    func matches(_ certificate: TLSCertificate) -> Bool {
        switch content {
        case .certificate(let der): return der == certificate.der
        case .publicKey(let key): return key == certificate.publicKey
        case .digest(let digest):
            #if canImport(CryptoKit) || Encryption
                return digest == Data(SHA256.hash(data: certificate.publicKey))
            #else
                return false
            #endif
        }
    }
}
