/// The requests that hang because of a fault.
final class HangingRequests: Sendable {
    private let hanging = WaitingTasks()
    private let begun = RequestLog()
    private let ended = RequestLog()

    var count: Int { hanging.count }

    /// Waits until the client disconnects, the hangs are released or the backend stops.
    func wait(until clientLeft: Signal) async {
        let ticket = hanging.makeTicket()
        clientLeft.whenFired { [hanging] in hanging.cancel(ticket) }
        // A cancelled wait and a released one end the same way: without a response.
        try? await hanging.wait(with: ticket) { begun.record(method: "", path: "/") }
        ended.record(method: "", path: "/")
    }

    func waitUntilBegun(_ count: Int) async throws {
        try await begun.wait(for: "/", count: count)
    }

    func waitUntilEnded(_ count: Int) async throws {
        try await ended.wait(for: "/", count: count)
    }

    func releaseAll() {
        hanging.release()
    }

    func close() {
        hanging.close()
    }
}
