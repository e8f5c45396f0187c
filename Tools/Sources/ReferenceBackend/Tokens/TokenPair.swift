import Crypto
import Foundation

/// An access token and its refresh token.
struct TokenPair: Codable, Sendable {
    var accessToken: String
    var refreshToken: String

    /// Encrypts the pair with a key derived from the used token, so that the database can repeat a refresh without
    /// containing a usable token.
    func sealed(under used: OpaqueToken) throws -> Data {
        let box = try AES.GCM.seal(JSONEncoder().encode(self), using: Self.key(from: used))
        // A box with the standard nonce always has a combined form.
        return box.combined ?? Data()
    }

    /// Decrypts the result of ``sealed(under:)``.
    init(opening sealed: Data, with used: OpaqueToken) throws {
        let plain = try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: Self.key(from: used))
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
