import Crypto
import Foundation

/// 256 random bits behind a prefix that says what they are for; kept by their SHA-256 only.
struct OpaqueToken: Sendable {
    let text: String

    private static let accessPrefix = "oat_"
    private static let refreshPrefix = "rt_"

    /// A new opaque access token.
    init() {
        text = Self.accessPrefix + RandomBytes.make(32).base64URL
    }

    /// An opaque access token that was presented; nil where the text cannot be one.
    init?(text: String) {
        guard text.hasPrefix(Self.accessPrefix) else { return nil }
        self.text = text
    }

    private init(refreshText: String) {
        text = refreshText
    }

    /// A new refresh token.
    static func newRefreshToken() -> OpaqueToken {
        OpaqueToken(refreshText: refreshPrefix + RandomBytes.make(32).base64URL)
    }

    /// A refresh token that was presented.
    static func refreshToken(_ text: String) -> OpaqueToken {
        OpaqueToken(refreshText: text)
    }

    var hash: Data {
        Data(SHA256.hash(data: Data(text.utf8)))
    }
}
