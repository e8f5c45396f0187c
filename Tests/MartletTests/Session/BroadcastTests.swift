import MartletTesting
import Testing

@testable import Martlet

@Suite("Listening to a session")
struct BroadcastTests {
    @Test("can be cancelled at the moment in which there is something to hear") func cancelledWhileTold() async {
        // Both sides meet in few of the rounds: where the end of a stream waits for the lock of whoever tells, it hangs here.
        for round in 0..<20_000 {
            let owner = Locked(Broadcast<Int>())
            let stream = owner.withLock { $0.add(keeping: 16) }
            let listening = Task { for await _ in stream {} }
            for _ in 0..<round % 4 { await Task.yield() }
            async let cancelling: Void = listening.cancel()
            owner.withLock { $0.tell(round) }.wake()
            await cancelling
            await listening.value
            #expect(owner.withLock { $0.count } == 0)
        }
    }

    @Test("can be cancelled along with a child task that asks for the session's lock in that moment")
    func cancelledWithChild() async {
        // The task is locked while its children are cancelled: where it is woken under the lock they ask for, it hangs here.
        for round in 0..<20_000 {
            let owner = Locked(Broadcast<Int>())
            let stream = owner.withLock { $0.add(keeping: 16) }
            let gate = Gate()
            let listening = Task {
                async let child: Void = withTaskCancellationHandler {
                    try? await gate.passUnlessCancelled()
                } onCancel: {
                    owner.withLock { _ in }
                }
                for await _ in stream {}
                await child
            }
            await gate.waitForArrivals()
            for _ in 0..<round % 4 { await Task.yield() }
            async let cancelling: Void = listening.cancel()
            owner.withLock { $0.tell(round) }.wake()
            await cancelling
            await listening.value
        }
    }

    @Test("hears everything in order, however many tell at the same time") func inOrder() async {
        let owner = Locked((broadcast: Broadcast<Int>(), last: 0))
        let stream = owner.withLock { $0.broadcast.add(keeping: .max) }
        let listening = Task {
            var heard: [Int] = []
            for await value in stream { heard.append(value) }
            return heard
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    for _ in 0..<1000 {
                        let wakeups = owner.withLock { owner in
                            owner.last += 1
                            return owner.broadcast.tell(owner.last)
                        }
                        wakeups.wake()
                    }
                }
            }
        }
        owner.withLock { $0.broadcast.finish() }.wake()
        #expect(await listening.value == Array(1...10_000))
    }

    @Test("hears only the newest, where it does not keep up") func keepsNewest() async {
        var broadcast = Broadcast<Int>()
        let stream = broadcast.add(first: [0], keeping: 3)
        for value in 1...5 { broadcast.tell(value).wake() }
        broadcast.finish().wake()
        var heard: [Int] = []
        for await value in stream { heard.append(value) }
        #expect(heard == [3, 4, 5])
    }

    @Test("that nobody does any more is forgotten, begun or not") func dropped() async {
        var broadcast = Broadcast<Int>()
        do {
            let untouched = broadcast.add(first: [0], keeping: 3)
            var begun = broadcast.add(first: [1], keeping: 3).makeAsyncIterator()
            #expect(await begun.next() == 1)
            #expect(broadcast.count == 2)
            _ = untouched
        }
        #expect(broadcast.count == 0)
    }
}
