#if canImport(CryptoKit) || Encryption
    #if canImport(CryptoKit)
        internal import CryptoKit
    #else
        internal import Crypto
        internal import CryptoExtras
    #endif

    internal import Martlet

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    extension VerificationKey {
        /// Whether the signature of a token was made with this key. A key that is not a point on its curve verifies
        /// nothing.
        func verifies(_ token: SignedToken) -> Bool {
            switch (material, token.algorithm) {
            case (.rsa(let modulus, let exponent), .rs256):
                return RSASignature.isValid(token, modulus, exponent, isProbabilistic: false)
            case (.rsa(let modulus, let exponent), .ps256):
                return RSASignature.isValid(token, modulus, exponent, isProbabilistic: true)
            case (.p256(let x, let y), .es256):
                guard let key = try? P256.Signing.PublicKey(x963Representation: Data([4]) + x + y),
                    let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature)
                else { return false }
                return key.isValidSignature(signature, for: token.signedBytes)
            case (.p384(let x, let y), .es384):
                guard let key = try? P384.Signing.PublicKey(x963Representation: Data([4]) + x + y),
                    let signature = try? P384.Signing.ECDSASignature(rawRepresentation: token.signature)
                else { return false }
                return key.isValidSignature(signature, for: token.signedBytes)
            case (.ed25519(let x), .edDSA):
                guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: x) else { return false }
                return key.isValidSignature(token.signature, for: token.signedBytes)
            default:
                return false
            }
        }
    }

    extension SigningAlgorithm {
        /// The left half of the digest of a string, by the hash function of the algorithm (OpenID Connect Core 1.0,
        /// section 3.1.3.6). Ed25519 uses SHA-512.
        func halfDigest(of text: String) -> Data {
            let digest: Data
            switch self {
            case .rs256, .ps256, .es256: digest = Data(SHA256.hash(data: Data(text.utf8)))
            case .es384: digest = Data(SHA384.hash(data: Data(text.utf8)))
            case .edDSA: digest = Data(SHA512.hash(data: Data(text.utf8)))
            }
            return digest.prefix(digest.count / 2)
        }
    }

    /// The transformation S256 of a code verifier (RFC 7636, section 4.2).
    func codeChallenge(of verifier: Secret) -> String {
        Base64URL.encode(SHA256.hash(data: Data(verifier.reveal().utf8)))
    }

    #if !canImport(CryptoKit)
        /// RSA signatures with SHA-256, by BoringSSL.
        private enum RSASignature {
            /// - Parameter isProbabilistic: Whether the padding is PSS with a salt of 32 bytes instead of PKCS #1 v1.5.
            static func isValid(_ token: SignedToken, _ modulus: Data, _ exponent: Data, isProbabilistic: Bool) -> Bool
            {
                guard let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent) else { return false }
                return key.isValidSignature(
                    _RSA.Signing.RSASignature(rawRepresentation: token.signature),
                    for: SHA256.hash(data: token.signedBytes),
                    padding: isProbabilistic ? .PSS : .insecurePKCS1v1_5)
            }
        }
    #endif
#endif
