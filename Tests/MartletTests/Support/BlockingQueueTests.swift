import Dispatch
import Testing

@testable import Martlet

@Suite("The queue of blocking work", .timeLimit(.minutes(10))) struct BlockingQueueTests {
    @Test("blocking work does not use the threads of tasks") func ownThreads() async {
        let disk = DispatchSemaphore(value: 0)
        let count = 100
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { await BlockingQueue.run { disk.wait() } } }
            // Runs only if a thread of the pool is free.
            group.addTask { for _ in 0..<count { disk.signal() } }
        }
    }
}
