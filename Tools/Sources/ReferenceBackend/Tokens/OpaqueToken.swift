import Crypto
import Foundation

/// 256 random bits with a prefix that states their purpose. Only the SHA-256 hash is stored.
struct OpaqueToken: Sendable {
    let text: String

    private static let accessPrefix = "oat_"
    private static let refreshPrefix = "rt_"

    /// Creates an access token.
    init() {
        text = Self.accessPrefix + RandomBytes.make(32).base64URL
    }

    /// Wraps a received access token; `nil` if it does not have the prefix.
    init?(text: String) {
        guard text.hasPrefix(Self.accessPrefix) else { return nil }
        self.text = text
    }

    private init(refreshText: String) {
        text = refreshText
    }

    static func newRefreshToken() -> OpaqueToken {
        OpaqueToken(refreshText: refreshPrefix + RandomBytes.make(32).base64URL)
    }

    /// Wraps a received refresh token.
    static func refreshToken(_ text: String) -> OpaqueToken {
        OpaqueToken(refreshText: text)
    }

    var hash: Data {
        Data(SHA256.hash(data: Data(text.utf8)))
    }
}
