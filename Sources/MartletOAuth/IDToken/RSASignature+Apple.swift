#if canImport(CryptoKit)
    internal import Foundation
    internal import Security

    /// RSA signatures with SHA-256, by the Security framework. CryptoKit has no RSA.
    enum RSASignature {
        /// - Parameter isProbabilistic: Whether the padding is PSS with a salt of 32 bytes instead of PKCS #1 v1.5.
        static func isValid(_ token: SignedToken, _ modulus: Data, _ exponent: Data, isProbabilistic: Bool) -> Bool {
            let attributes: [String: Any] = [
                kSecAttrKeyType as String: kSecAttrKeyTypeRSA, kSecAttrKeyClass as String: kSecAttrKeyClassPublic,
            ]
            let document = RSAPublicKeyDocument.make(modulus: modulus, exponent: exponent)
            guard let key = SecKeyCreateWithData(document as CFData, attributes as CFDictionary, nil) else {
                return false
            }
            let algorithm: SecKeyAlgorithm =
                isProbabilistic ? .rsaSignatureMessagePSSSHA256 : .rsaSignatureMessagePKCS1v15SHA256
            return SecKeyVerifySignature(
                key, algorithm, token.signedBytes as CFData, token.signature as CFData, nil)
        }
    }
#endif
