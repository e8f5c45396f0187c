import NIOConcurrencyHelpers

/// The requests whose codes have not been exchanged yet.
final class AuthorizationCodes: Sendable {
    /// The values of an authorization request that the exchange of its code depends on.
    struct Request: Sendable {
        var redirectURI: String
        var challenge: String
        var nonce: String?
    }

    private let requests = NIOLockedValueBox<[String: Request]>([:])

    func issue(for request: Request) -> String {
        let code = RandomBytes.make(32).base64URL
        requests.withLockedValue { $0[code] = request }
        return code
    }

    /// The request of a code, which cannot be used again.
    func take(_ code: String) -> Request? {
        requests.withLockedValue { $0.removeValue(forKey: code) }
    }
}
