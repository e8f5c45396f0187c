#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A certificate with its private key, for servers that ask the client for one (mutual TLS).
///
/// The transport presents it to each server that asks for one, so each of these servers learns who the client is.
public struct ClientIdentity: Sendable {
    enum Content: Sendable {
        case pem([TLSCertificate], key: Secret, passphrase: Secret?)
        case pkcs12(Data, passphrase: Secret)
        #if canImport(Security)
            case keychain(label: String)
            case keychainReference(Data)
        #endif
    }

    let content: Content

    /// Creates an identity from PEM, for `AsyncHTTPClientTransport`. `URLSession` does not accept PEM: convert it with
    /// `openssl pkcs12 -export`.
    /// - Parameters:
    ///   - certificates: The client's certificate, followed by those of intermediate authorities.
    ///   - privateKey: The private key of the first certificate.
    ///   - passphrase: The passphrase of an encrypted private key.
    /// - Throws: ``TransportSettingsError`` if a certificate cannot be read or there is no private key. The transport
    ///   checks whether the key belongs to the certificate.
    public init(
        pem certificates: String, privateKey: Secret, passphrase: Secret? = nil
    ) throws(TransportSettingsError) {
        let chain = try TLSCertificate.all(pem: certificates)
        guard privateKey.reveal().contains("PRIVATE KEY-----") else {
            throw .invalidIdentity("The text contains no private key (-----BEGIN PRIVATE KEY-----).")
        }
        self.content = .pem(chain, key: privateKey, passphrase: passphrase)
    }

    /// Creates an identity from a PKCS#12 file (`.p12`, `.pfx`). It is decrypted when a transport is created with it.
    public init(pkcs12: Data, passphrase: Secret) {
        self.content = .pkcs12(pkcs12, passphrase: passphrase)
    }

    #if canImport(Security)
        private init(_ content: Content) {
            self.content = content
        }

        /// The identity in the Keychain with this label, for `URLSessionTransport`. It is looked up when the transport
        /// is created.
        public static func keychain(label: String) -> ClientIdentity {
            ClientIdentity(.keychain(label: label))
        }

        /// The identity in the Keychain with this persistent reference, for `URLSessionTransport`. It is looked up when
        /// the transport is created.
        public static func keychain(persistentReference: Data) -> ClientIdentity {
            ClientIdentity(.keychainReference(persistentReference))
        }
    #endif
}

extension ClientIdentity: CustomStringConvertible, CustomReflectable {
    /// Always `<redacted>`.
    public var description: String { "<redacted>" }

    /// A mirror without children, so that `dump` shows nothing either.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
