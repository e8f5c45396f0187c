#if canImport(CryptoKit) || Encryption
    #if canImport(CryptoKit)
        import CryptoKit
        import Foundation
    #else
        import Crypto
        import CryptoExtras
        import Foundation
    #endif

    @testable import MartletOAuth

    /// A key of a test's server, for one algorithm.
    enum TestKey: String, Sendable, CaseIterable {
        case es256 = "ES256"
        case es384 = "ES384"
        case edDSA = "EdDSA"
        #if !canImport(CryptoKit)
            case rs256 = "RS256"
            case ps256 = "PS256"
        #endif

        /// The algorithm in the rules; `nil` if they do not have it.
        var algorithm: SigningAlgorithm? { SigningAlgorithm(rawValue: rawValue) }

        /// The public key, as in a key set.
        var jwk: RawObject {
            var key: RawObject
            switch self {
            case .es256: key = Self.point("P-256", Self.p256.publicKey.rawRepresentation)
            case .es384: key = Self.point("P-384", Self.p384.publicKey.rawRepresentation)
            case .edDSA:
                key = [
                    "kty": quoted("OKP"), "crv": quoted("Ed25519"),
                    "x": Self.number(Self.ed25519.publicKey.rawRepresentation),
                ]
            #if !canImport(CryptoKit)
                case .rs256, .ps256: key = Self.jwk(of: Self.rsa.publicKey)
            #endif
            }
            key["kid"] = quoted("key-\(rawValue)")
            key["use"] = quoted("sig")
            key["alg"] = quoted(rawValue)
            return key
        }

        func signature(of text: String) throws -> Data {
            let bytes = Data(text.utf8)
            switch self {
            case .es256: return try Self.p256.signature(for: bytes).rawRepresentation
            case .es384: return try Self.p384.signature(for: bytes).rawRepresentation
            case .edDSA: return try Self.ed25519.signature(for: bytes)
            #if !canImport(CryptoKit)
                case .rs256:
                    return try Self.rsa.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5)
                        .rawRepresentation
                case .ps256:
                    return try Self.rsa.signature(for: SHA256.hash(data: bytes), padding: .PSS).rawRepresentation
            #endif
            }
        }

        func sign(_ header: String, _ claims: String) throws -> String {
            let text = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
            return text + "." + Base64URL.encode(try signature(of: text))
        }

        static let p256 = P256.Signing.PrivateKey()
        static let p384 = P384.Signing.PrivateKey()
        static let ed25519 = Curve25519.Signing.PrivateKey()

        #if !canImport(CryptoKit)
            static let rsa = makeRSA(2048)

            static func makeRSA(_ bits: Int) -> _RSA.Signing.PrivateKey {
                do {
                    return try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: bits))
                } catch {
                    preconditionFailure("\(error)")
                }
            }

            static func jwk(of key: _RSA.Signing.PublicKey) -> RawObject {
                let numbers = try? key.getKeyPrimitives()
                return [
                    "kty": quoted("RSA"), "n": number(numbers?.modulus ?? Data()),
                    "e": number(numbers?.publicExponent ?? Data()),
                ]
            }
        #endif

        private static func point(_ curve: String, _ bytes: Data) -> RawObject {
            let half = bytes.count / 2
            return [
                "kty": quoted("EC"), "crv": quoted(curve), "x": number(bytes.prefix(half)),
                "y": number(bytes.suffix(half)),
            ]
        }

        static func number(_ bytes: Data) -> String { quoted(Base64URL.encode(bytes)) }
    }

    func keySet(_ keys: [RawObject]) -> String {
        "{\"keys\":[" + keys.map(\.text).joined(separator: ",") + "]}"
    }

    extension TestKey {
        /// The point of another key, without its first byte.
        static let otherP256 = P256.Signing.PrivateKey().publicKey.rawRepresentation

        /// Another key with the name of ``es256``.
        static var other: RawObject {
            var key = es256.jwk
            (key["x"], key["y"]) = (number(otherP256.prefix(32)), number(otherP256.suffix(32)))
            return key
        }
    }
#endif
