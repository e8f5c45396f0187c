import Crypto
import Foundation

/// An access token and the refresh token beside it.
struct TokenPair: Codable, Sendable {
    var accessToken: String
    var refreshToken: String

    /// Encrypts the pair with a key that only the spent token's text yields, so that the database can answer a repeated
    /// refresh without holding a usable token.
    func sealed(under spent: OpaqueToken) throws -> Data {
        let box = try AES.GCM.seal(JSONEncoder().encode(self), using: Self.key(from: spent))
        // A box with the standard nonce always has a combined form; an empty one merely cannot be opened.
        return box.combined ?? Data()
    }

    /// Decrypts what ``sealed(under:)`` made.
    init(opening sealed: Data, with spent: OpaqueToken) throws {
        let plain = try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: Self.key(from: spent))
        self = try JSONDecoder().decode(TokenPair.self, from: plain)
    }

    init(accessToken: String, refreshToken: String) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
    }

    private static func key(from token: OpaqueToken) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: Data(token.text.utf8)), info: Data("successor".utf8),
            outputByteCount: 32)
    }
}
