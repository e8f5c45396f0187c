/// Holds matching requests until they are released.
public final class RequestGate: Sendable {
    /// The stage at which a request is held.
    public enum Stage: String, Sendable, Hashable {
        /// Before the request is handled.
        case arrival
        /// After the request was handled and its effects were kept, before the response is sent.
        case response
    }

    /// The requests that are held.
    public let pattern: RequestPattern
    /// The stage at which they are held.
    public let stage: Stage

    private let held = WaitingTasks()
    private let log = RequestLog()
    private let onRelease: @Sendable (RequestGate) -> Void

    init(pattern: RequestPattern, stage: Stage, onRelease: @escaping @Sendable (RequestGate) -> Void) {
        self.pattern = pattern
        self.stage = stage
        self.onRelease = onRelease
    }

    /// The number of requests that are held now.
    public var heldCount: Int { held.count }

    /// Waits until `count` requests have reached the gate since its creation. Throws `CancellationError` if cancelled.
    public func waitUntilHeld(_ count: Int = 1) async throws {
        try await log.wait(for: pattern, count: count)
    }

    /// Releases the first `count` held requests. The gate continues to hold others.
    public func letPass(_ count: Int = 1) {
        held.release(count)
    }

    /// Releases all held requests and removes the gate.
    public func release() {
        onRelease(self)
        held.release()
    }

    func hold(method: String, path: String) async throws {
        try await held.wait(with: held.makeTicket()) { log.record(method: method, path: path) }
    }

    func close() {
        held.close()
    }
}
