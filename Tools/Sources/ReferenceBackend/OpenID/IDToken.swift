import Crypto
import CryptoExtras
import Foundation

/// An ID token before it is signed (OpenID Connect Core 1.0, section 2).
struct IDToken: Sendable {
    enum Algorithm: String, Sendable {
        case es256 = "ES256"
        case rs256 = "RS256"
        case hs256 = "HS256"
        case none
    }

    /// The seconds since 1970 at which the token is issued.
    let issuedAt: Int
    var header: [String: JSONValue] = [:]
    var claims: [String: JSONValue]
    var algorithm = Algorithm.es256 {
        didSet { setHeader() }
    }
    /// Whether the signature belongs to another text.
    var isDamaged = false

    init(issuedAt: Int, claims: [String: JSONValue]) {
        self.issuedAt = issuedAt
        self.claims = claims
        setHeader()
    }

    private mutating func setHeader() {
        header = ["alg": .string(algorithm.rawValue)]
        if algorithm == .es256 || algorithm == .rs256 { header["kid"] = .string(algorithm.rawValue) }
    }

    /// The compact form (RFC 7515, section 7.1).
    func signed(with keys: OpenIDKeys) throws -> String {
        let parts = [header, claims].map { Array(JSONValue.object($0).jsonText.utf8).base64URL }
        let text = parts.joined(separator: ".")
        return text + "." + (try keys.signature(of: isDamaged ? text + "." : text, by: algorithm)).base64URL
    }
}

/// The keys of a provider.
struct OpenIDKeys: Sendable {
    private let es256 = P256.Signing.PrivateKey()
    private let second = P256.Signing.PrivateKey()
    private let rs256: _RSA.Signing.PrivateKey
    private let hs256 = SymmetricKey(size: .bits256)

    init() throws {
        rs256 = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    }

    fileprivate func signature(of text: String, by algorithm: IDToken.Algorithm) throws -> [UInt8] {
        let bytes = Data(text.utf8)
        switch algorithm {
        case .es256: return try Array(es256.signature(for: bytes).rawRepresentation)
        case .rs256:
            let digest = SHA256.hash(data: bytes)
            return try Array(rs256.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
        case .hs256: return Array(HMAC<SHA256>.authenticationCode(for: bytes, using: hs256))
        case .none: return []
        }
    }

    /// The public keys (RFC 7517).
    func published(withSecond hasSecond: Bool) throws -> JSONValue {
        var keys = [Self.key(es256.publicKey, "ES256"), try Self.key(rs256.publicKey)]
        if hasSecond { keys.append(Self.key(second.publicKey, "second")) }
        return ["keys": .array(keys)]
    }

    private static func key(_ key: P256.Signing.PublicKey, _ name: String) -> JSONValue {
        let point = key.rawRepresentation
        return [
            "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": .string(name),
            "x": .string(point.prefix(32).base64URL), "y": .string(point.suffix(32).base64URL),
        ]
    }

    private static func key(_ key: _RSA.Signing.PublicKey) throws -> JSONValue {
        let numbers = try key.getKeyPrimitives()
        return [
            "kty": "RSA", "use": "sig", "alg": "RS256", "kid": "RS256",
            "n": .string(numbers.modulus.base64URL), "e": .string(numbers.publicExponent.base64URL),
        ]
    }
}
