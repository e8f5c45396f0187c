/// Holds matching requests at the server until they are released.
public final class RequestGate: Sendable {
    /// Where a request is held.
    public enum Stage: String, Sendable, Hashable {
        /// Before it is handled.
        case arrival
        /// After it was handled and what it changes is kept, before its answer is sent.
        case answer
    }

    /// Which requests are held.
    public let pattern: RequestPattern
    /// Where they are held.
    public let stage: Stage

    private let lot = ParkingLot()
    private let log = RequestLog()
    private let onRelease: @Sendable (RequestGate) -> Void

    init(pattern: RequestPattern, stage: Stage, onRelease: @escaping @Sendable (RequestGate) -> Void) {
        self.pattern = pattern
        self.stage = stage
        self.onRelease = onRelease
    }

    /// How many requests are held now.
    public var heldCount: Int { lot.count }

    /// Returns as soon as `count` requests have come to the gate since it was made; throws when cancelled.
    public func waitUntilHeld(_ count: Int = 1) async throws {
        try await log.wait(for: pattern, count: count)
    }

    /// Lets the first `count` held requests pass and keeps the gate closed.
    public func letPass(_ count: Int = 1) {
        lot.release(count)
    }

    /// Lets every held request pass and removes the gate.
    public func release() {
        onRelease(self)
        lot.release()
    }

    func hold(method: String, path: String) async throws {
        try await lot.wait(in: lot.takeSpace()) { log.record(method: method, path: path) }
    }

    func close() {
        lot.close()
    }
}
