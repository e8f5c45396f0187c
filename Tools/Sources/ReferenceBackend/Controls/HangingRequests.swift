/// The requests that get no answer.
final class HangingRequests: Sendable {
    private let lot = ParkingLot()
    private let begun = RequestLog()
    private let ended = RequestLog()

    var count: Int { lot.count }

    /// Waits until the client leaves, the hangs are released or the backend stops.
    func wait(until clientLeft: Signal) async {
        let space = lot.takeSpace()
        clientLeft.whenFired { [lot] in lot.remove(space) }
        // However the wait ends, there is nothing left to answer.
        try? await lot.wait(in: space) { begun.record(method: "", path: "/") }
        ended.record(method: "", path: "/")
    }

    func waitUntilBegun(_ count: Int) async throws {
        try await begun.wait(for: "/", count: count)
    }

    func waitUntilEnded(_ count: Int) async throws {
        try await ended.wait(for: "/", count: count)
    }

    func releaseAll() {
        lot.release()
    }

    func close() {
        lot.close()
    }
}
