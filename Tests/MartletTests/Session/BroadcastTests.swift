import MartletTesting
import Testing

@testable import Martlet

@Suite("Listening to a session")
struct BroadcastTests {
    @Test("can be cancelled at the moment in which there is something to hear") func cancelledWhileTold() async {
        // Both sides meet in few of the rounds: where the end of a stream waits for the lock of whoever tells, it hangs here.
        for round in 0..<20_000 {
            let owner = Locked(Broadcast<Int>())
            let stream = owner.withLock { $0.add(first: nil, buffering: 16) }
            let listening = Task { for await _ in stream {} }
            for _ in 0..<round % 4 { await Task.yield() }
            async let cancelling: Void = listening.cancel()
            owner.withLock { $0.send(round) }
            await cancelling
            await listening.value
            #expect(owner.withLock { $0.count } == 0)
        }
    }
}
