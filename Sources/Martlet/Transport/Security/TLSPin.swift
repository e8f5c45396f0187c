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
/// Pin the public key: the server can then renew its certificate with the same key. Only the server's own certificate
/// is compared. To pin an authority, trust no other with ``TLSSettings/Authorities/only(_:)``.
public struct TLSPin: Sendable, Hashable {
    private enum Kind: Hashable {
        case certificate, publicKey
        /// The SHA-256 of a public key.
        case digest
    }

    private let kind: Kind
    private let bytes: Data

    /// Exactly this certificate, until the server renews it.
    public static func certificate(_ certificate: TLSCertificate) -> TLSPin {
        TLSPin(kind: .certificate, bytes: certificate.der)
    }

    /// The public key of this certificate.
    public static func publicKey(of certificate: TLSCertificate) -> TLSPin {
        TLSPin(kind: .publicKey, bytes: certificate.publicKey)
    }

    /// A public key in PEM (`-----BEGIN PUBLIC KEY-----`), as `openssl pkey -pubout` writes it.
    /// - Throws: ``TransportSettingsError/invalidPins(_:)`` if the text is not one public key.
    public static func publicKey(pem: String) throws(TransportSettingsError) -> TLSPin {
        guard let blocks = PEMBlock.all(in: pem), blocks.count == 1, blocks[0].label == "PUBLIC KEY",
            DERReader.isPublicKey([UInt8](blocks[0].bytes)[...])
        else { throw .invalidPins("The text is not one public key (-----BEGIN PUBLIC KEY-----).") }
        return TLSPin(kind: .publicKey, bytes: blocks[0].bytes)
    }

    #if canImport(CryptoKit) || Encryption
        /// The SHA-256 of a public key in base64, with or without `sha256/` before it: the `pin-sha256` of RFC 7469,
        /// section 2.4, as OkHttp, curl and Android's network security configuration use it.
        ///
        /// On Linux it needs the trait `Encryption`.
        /// - Throws: ``TransportSettingsError/invalidPins(_:)`` if the text is not the base64 of 32 bytes.
        public static func publicKey(sha256 text: String) throws(TransportSettingsError) -> TLSPin {
            var base64 = text.hasPrefix("sha256/") ? text.dropFirst(7) : text[...]
            // curl writes `sha256//`. The first of the 44 base64 digits may be a slash as well, so drop it only from
            // 45.
            if base64.utf8.count == 45, base64.hasPrefix("/") { base64 = base64.dropFirst() }
            guard let digest = Data(base64Encoded: String(base64)), digest.count == SHA256.Digest.byteCount else {
                throw .invalidPins("The pin is not the SHA-256 of a public key in base64.")
            }
            return TLSPin(kind: .digest, bytes: digest)
        }
    #endif

    func matches(_ certificate: TLSCertificate) -> Bool {
        switch kind {
        case .certificate: return bytes == certificate.der
        case .publicKey: return bytes == certificate.publicKey
        case .digest:
            #if canImport(CryptoKit) || Encryption
                return bytes == Data(SHA256.hash(data: certificate.publicKey))
            #else
                return false
            #endif
        }
    }
}
