import Dispatch
import Testing

@testable import Martlet

@Suite("File queue", .timeLimit(.minutes(10))) struct FileQueueTests {
    @Test("blocking file operations do not use the threads of the task pool") func ownThreads() async {
        let disk = DispatchSemaphore(value: 0)
        let count = 100
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { try? await FileQueue.run { disk.wait() } } }
            // Runs only if a thread of the pool is free.
            group.addTask { for _ in 0..<count { disk.signal() } }
        }
    }
}
