#if canImport(CryptoKit) || Encryption
    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// The form of an RSA key that Apple's Security framework reads: `RSAPublicKey` of PKCS #1 (RFC 8017, appendix
    /// A.1.1) in DER.
    enum RSAPublicKeyDocument {
        static func make(modulus: Data, exponent: Data) -> Data {
            value(tag: 0x30, integer(modulus) + integer(exponent))
        }

        /// A positive integer. A leading zero keeps the highest bit from being read as the sign.
        private static func integer(_ bytes: Data) -> Data {
            let sign: [UInt8] = (bytes.first ?? 0) < 0x80 ? [] : [0]
            return value(tag: 0x02, Data(sign) + bytes)
        }

        private static func value(tag: UInt8, _ content: Data) -> Data {
            Data([tag]) + length(content.count) + content
        }

        private static func length(_ count: Int) -> Data {
            guard count >= 0x80 else { return Data([UInt8(count)]) }
            var bytes: [UInt8] = []
            var rest = count
            while rest > 0 {
                bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
                rest >>= 8
            }
            return Data([0x80 | UInt8(bytes.count)] + bytes)
        }
    }
#endif
