internal import Foundation
internal import Martlet

/// The counts of one process.
struct InteropTally: Sendable, Codable {
    var calls = 0
    var refreshes = 0
    var adoptions = 0
    /// The number of failed calls, by reason.
    var failures: [String: Int] = [:]

    mutating func add(_ other: InteropTally) {
        calls += other.calls
        refreshes += other.refreshes
        adoptions += other.adoptions
        failures.merge(other.failures, uniquingKeysWith: +)
    }
}

/// One of the processes that share a session: an app that makes calls and does not know of the other processes.
struct InteropWorker: Sendable {
    let folder: String
    let hidesLock: Bool
    /// Opens a client of the server over the record that all processes share.
    let connect: @Sendable (any TokenStore) -> (client: NetworkClient, tokens: TokenManager)

    /// The number of calls that one process makes at the same time, and the pause after each.
    private static let width = 4
    private static let pause = Duration.milliseconds(25)

    func call(for duration: Duration) async -> InteropTally {
        let store = TortureStore.encrypted.open(in: folder)
        let (client, tokens) = connect(hidesLock ? LocklessStore(base: store) : store)
        let events = tokens.events
        let watching = Task {
            var tally = InteropTally()
            for await event in events {
                switch event {
                case .refreshSucceeded: tally.refreshes += 1
                case .adopted: tally.adoptions += 1
                default: break
                }
            }
            return tally
        }
        let end = ContinuousClock.now + duration
        var tally = await withTaskGroup { group in
            for _ in 0..<Self.width {
                group.addTask { await Self.call(client, until: end) }
            }
            return await group.reduce(into: InteropTally()) { $0.add($1) }
        }
        watching.cancel()
        tally.add(await watching.value)
        return tally
    }

    private static func call(_ client: NetworkClient, until end: ContinuousClock.Instant) async -> InteropTally {
        var tally = InteropTally()
        while ContinuousClock.now < end {
            tally.calls += 1
            do {
                try await client.send(Call<NoContent>(.get, "/me"))
            } catch {
                tally.failures["\(error)", default: 0] += 1
            }
            try? await Task.sleep(for: pause)
        }
        return tally
    }
}
