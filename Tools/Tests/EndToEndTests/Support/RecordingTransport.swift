internal import Foundation
internal import Martlet
internal import NIOConcurrencyHelpers

/// Passes everything on to a real transport and remembers what was sent, and what came back where it is asked to.
final class RecordingTransport: Transport {
    /// A request as it left.
    struct Sent: Sendable {
        let request: HTTPRequest
        /// The body, where it was sent from memory.
        let body: Data?
        /// Whether it took the lane of the token endpoint.
        let usedLane: Bool

        /// The path without the query.
        var path: String { String((request.path ?? "").prefix { $0 != "?" }) }
    }

    private struct Records: Sendable {
        var sent: [Sent] = []
        var answers: [String] = []
    }

    private let inner: any Transport
    private let isLane: Bool
    private let keepsAnswers: Bool
    private let records: NIOLockedValueBox<Records>

    init(_ inner: any Transport, keepsAnswers: Bool = false) {
        self.inner = inner
        self.isLane = false
        self.keepsAnswers = keepsAnswers
        self.records = NIOLockedValueBox(Records())
    }

    private init(laneOf other: RecordingTransport) {
        self.inner = other.inner.makeLane()
        self.isLane = true
        self.keepsAnswers = other.keepsAnswers
        self.records = other.records
    }

    /// Every request so far.
    var sent: [Sent] { records.withLockedValue { $0.sent } }

    /// The header fields and bodies of every answer so far, as text.
    var answers: [String] { records.withLockedValue { $0.answers } }

    func parallelRequests(to origin: Origin) -> Int? { inner.parallelRequests(to: origin) }

    func send(_ request: HTTPRequest, body: OutgoingBody?) async throws -> TransportResponse {
        let bytes: Data? = if case .bytes(let data) = body?.content { data } else { nil }
        let sent = Sent(request: request, body: bytes, usedLane: isLane)
        records.withLockedValue { $0.sent.append(sent) }
        var response = try await inner.send(request, body: body)
        if keepsAnswers {
            let whole = try await response.body.collect(upTo: 1 << 20)
            let fields = response.head.headerFields.map { "\($0.name): \($0.value)" }
            let text = (fields + [String(decoding: whole, as: UTF8.self)]).joined(separator: "\n")
            records.withLockedValue { $0.answers.append(text) }
            response.body = ByteStream(whole)
        }
        return response
    }

    func makeLane() -> any Transport { RecordingTransport(laneOf: self) }

    /// Closes what can be closed by hand.
    func shutdown() async {
        guard let client = inner as? AsyncHTTPClientTransport else { return }
        try? await client.shutdown()
    }
}

/// Passes everything on to a store and remembers every token that was written.
struct RecordingStore: TokenStore {
    let inner: any TokenStore
    private let tokens = NIOLockedValueBox<Set<String>>([])

    init(_ inner: any TokenStore) {
        self.inner = inner
    }

    /// Every access and refresh token that was ever written.
    var writtenTokens: Set<String> { tokens.withLockedValue { $0 } }

    func read() async -> StoreReading { await inner.read() }

    func write(_ session: StoredSession) async throws {
        tokens.withLockedValue { tokens in
            tokens.insert(session.bundle.accessToken.reveal())
            if let refresh = session.bundle.refreshToken { tokens.insert(refresh.reveal()) }
        }
        try await inner.write(session)
    }

    func delete() async throws { try await inner.delete() }
}
