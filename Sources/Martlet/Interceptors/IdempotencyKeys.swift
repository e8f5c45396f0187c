public import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Gives each call a key, so that the server performs it once, no matter how often the request arrives
/// (`Idempotency-Key`, draft-ietf-httpapi-idempotency-key-header).
///
/// ```swift
/// config.interceptors.append(IdempotencyKeys())                                  // a key for each POST and PATCH
/// try await client.intercepted(by: IdempotencyKeys(order.id.uuidString)).send(call)  // one that the app keeps
/// ```
///
/// All attempts of a call carry the same key. ``RetryPolicy`` then retries the call like one with an idempotent method,
/// for example after a lost response. Use it only with a server that supports the field. A key that the call itself has
/// set is kept.
public struct IdempotencyKeys: RequestInterceptor {
    /// Stored in the context of a call whose requests carry a key, unless they go to a third party.
    struct Mark: Sendable {
        let field: HTTPField.Name
        /// Whether the app has chosen the key, so that another call can carry it again.
        let isOfApp: Bool
        /// Whether the last request carried the key: interceptors may have sent it to a third party, without the key.
        private(set) var isSent = true

        mutating func note(_ request: HTTPRequest) { isSent = request.headerFields[field] != nil }
    }

    private let key: String?
    private let field: HTTPField.Name
    private let methods: Set<HTTPRequest.Method>

    /// Creates an interceptor for a client, or for one call.
    /// - Parameters:
    ///   - key: The app's own key for an operation that must not happen twice; `nil` for a random UUID for each call.
    ///     Two calls with the same key count as one, so pass a key only to ``NetworkClient/intercepted(by:)``.
    ///   - field: The header field.
    ///   - methods: The methods of the calls that get a key.
    public init(
        _ key: String? = nil, field: HTTPField.Name = .idempotencyKey,
        methods: Set<HTTPRequest.Method> = [.post, .patch]
    ) {
        self.key = key
        self.field = field
        self.methods = methods
    }

    /// Adds the key, unless the request has one.
    public func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        guard methods.contains(request.method) else { return }
        let isOfApp = context[Mark.self]?.isOfApp ?? (key != nil || request.headerFields[field] != nil)
        if request.headerFields[field] == nil { request.headerFields[field] = key ?? UUID().uuidString }
        context[Mark.self] = Mark(field: field, isOfApp: isOfApp)
    }
}

extension HTTPField.Name {
    /// `Idempotency-Key`.
    public static let idempotencyKey =
        // The fallback is never used, because the name is valid.
        HTTPField.Name("Idempotency-Key") ?? .eTag
}
