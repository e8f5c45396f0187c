import Dispatch
import Testing

@testable import Martlet

@Suite("Work with files", .timeLimit(.minutes(1))) struct FileQueueTests {
    @Test("that waits for a disk takes none of the threads that tasks run on") func ownThreads() async {
        let disk = DispatchSemaphore(value: 0)
        let count = 100
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { try? await FileQueue.run { disk.wait() } } }
            // Runs only if there is a thread left for it.
            group.addTask { for _ in 0..<count { disk.signal() } }
        }
    }
}
