internal import Foundation
internal import Martlet
internal import NIOConcurrencyHelpers

/// Forwards requests to a real transport, and records them and optionally their responses.
final class RecordingTransport: Transport {
    /// A request as it was sent.
    struct Sent: Sendable {
        let request: HTTPRequest
        /// The body, if it was sent from memory.
        let body: Data?
        /// Whether it was sent over the isolated transport of the token endpoint.
        let usedIsolatedTransport: Bool

        /// The path without the query.
        var path: String { String((request.path ?? "").prefix { $0 != "?" }) }
    }

    private struct Records: Sendable {
        var sent: [Sent] = []
        var responses: [String] = []
    }

    private let inner: any Transport
    private let isIsolated: Bool
    private let keepsResponses: Bool
    private let records: NIOLockedValueBox<Records>

    init(_ inner: any Transport, keepsResponses: Bool = false) {
        self.inner = inner
        self.isIsolated = false
        self.keepsResponses = keepsResponses
        self.records = NIOLockedValueBox(Records())
    }

    private init(isolatedFrom other: RecordingTransport) {
        self.inner = other.inner.makeIsolatedTransport()
        self.isIsolated = true
        self.keepsResponses = other.keepsResponses
        self.records = other.records
    }

    /// Every request so far, in order.
    var sent: [Sent] { records.withLockedValue { $0.sent } }

    /// The header fields and bodies of every response so far, as text.
    var responses: [String] { records.withLockedValue { $0.responses } }

    func parallelRequests(to origin: Origin) -> Int? { inner.parallelRequests(to: origin) }

    func send(
        _ request: HTTPRequest, body: OutgoingBody?
    ) async throws -> (head: HTTPResponse, body: ByteStream) {
        let bytes = body?.bytes
        let sent = Sent(request: request, body: bytes, usedIsolatedTransport: isIsolated)
        records.withLockedValue { $0.sent.append(sent) }
        var response = try await inner.send(request, body: body)
        if keepsResponses {
            let whole = try await response.body.collect(upTo: 1 << 20)
            let fields = response.head.headerFields.map { "\($0.name): \($0.value)" }
            let text = (fields + [String(decoding: whole, as: UTF8.self)]).joined(separator: "\n")
            records.withLockedValue { $0.responses.append(text) }
            response.body = ByteStream(whole)
        }
        return response
    }

    func makeIsolatedTransport() -> any Transport { RecordingTransport(isolatedFrom: self) }

    /// Shuts down the transport if it supports it.
    func shutdown() async {
        guard let client = inner as? AsyncHTTPClientTransport else { return }
        try? await client.shutdown()
    }
}

/// Forwards to a store and records every token that was written.
struct RecordingStore: TokenStore {
    let inner: any TokenStore
    private let tokens = NIOLockedValueBox<Set<String>>([])

    init(_ inner: any TokenStore) {
        self.inner = inner
    }

    /// Every access and refresh token that was written.
    var writtenTokens: Set<String> { tokens.withLockedValue { $0 } }

    func read() async -> StoreReading { await inner.read() }

    func write(_ session: StoredSession) async throws {
        tokens.withLockedValue { tokens in
            tokens.insert(session.tokens.accessToken.reveal())
            if let refresh = session.tokens.refreshToken { tokens.insert(refresh.reveal()) }
        }
        try await inner.write(session)
    }

    func delete() async throws { try await inner.delete() }
}
