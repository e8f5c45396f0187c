import MartletTesting
import Testing

@testable import Martlet

@Suite("Broadcasts", .timeLimit(.minutes(10)))
struct BroadcastTests {
    @Test("a listener can be cancelled while a value is sent") func cancelledWhileTold() async {
        // Both sides meet only in some rounds. If ending a stream waited for the sender's lock, this would hang.
        for round in 0..<20_000 {
            let owner = Locked(Broadcast<Int>())
            let stream = owner.withLock { $0.subscribe(keeping: 16) }
            let listening = Task { for await _ in stream {} }
            for _ in 0..<round % 4 { await Task.yield() }
            async let cancelling: Void = listening.cancel()
            owner.withLock { $0.send(round) }.wake()
            await cancelling
            await listening.value
            #expect(owner.withLock { $0.count } == 0)
        }
    }

    @Test("a listener can be cancelled with a child task that acquires the owner's lock")
    func cancelledWithChild() async {
        // The runtime locks a task while it cancels its children. If the listener were woken under the owner's lock,
        // this would hang.
        for round in 0..<20_000 {
            let owner = Locked(Broadcast<Int>())
            let stream = owner.withLock { $0.subscribe(keeping: 16) }
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
            owner.withLock { $0.send(round) }.wake()
            await cancelling
            await listening.value
        }
    }

    @Test("values sent concurrently arrive in order") func inOrder() async {
        let owner = Locked((broadcast: Broadcast<Int>(), last: 0))
        let stream = owner.withLock { $0.broadcast.subscribe(keeping: .max) }
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
                            return owner.broadcast.send(owner.last)
                        }
                        wakeups.wake()
                    }
                }
            }
        }
        owner.withLock { $0.broadcast.finish() }.wake()
        #expect(await listening.value == Array(1...10_000))
    }

    @Test("a slow listener gets only the newest values") func keepsNewest() async {
        var broadcast = Broadcast<Int>()
        let stream = broadcast.subscribe(first: [0], keeping: 3)
        for value in 1...5 { broadcast.send(value).wake() }
        broadcast.finish().wake()
        var heard: [Int] = []
        for await value in stream { heard.append(value) }
        #expect(heard == [3, 4, 5])
    }

    @Test("a released listener is removed, whether it has started or not") func dropped() async {
        var broadcast = Broadcast<Int>()
        do {
            let untouched = broadcast.subscribe(first: [0], keeping: 3)
            var begun = broadcast.subscribe(first: [1], keeping: 3).makeAsyncIterator()
            #expect(await begun.next() == 1)
            #expect(broadcast.count == 2)
            _ = untouched
        }
        #expect(broadcast.count == 0)
    }
}
