import Foundation
import Martlet
import MartletTesting
import Testing

@testable import MartletImages

@Suite("The image queue", .timeLimit(.minutes(10)))
struct ImageQueueTests {
    @Test("no more jobs run at once than the queue is wide, and all of them run")
    func width() async throws {
        let queue = ImageQueue(width: 2)
        let running = Locked((now: 0, most: 0))
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...50 {
                group.addTask {
                    try await queue.run { _ throws(ImageError) in
                        running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                        defer { running.withLock { $0.now -= 1 } }
                        return number
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 1275)
        #expect(running.withLock { $0.most } <= 2 && running.withLock { $0.now } == 0)
    }

    @Test("a task cancelled while it waits for a turn returns at once")
    func cancelsWaiting() async throws {
        let queue = ImageQueue(width: 1)
        let release = DispatchSemaphore(value: 0)
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await queue.run { _ throws(ImageError) in
                continuation.finish()
                release.wait()
                return 1
            }
        }
        for await _ in started {}
        let second = Task { try await queue.run { _ throws(ImageError) in 2 } }
        second.cancel()
        let outcome = await second.result
        #expect(throws: ImageError.cancelled) { try outcome.get() }
        release.signal()
        #expect(try await first.value == 1)
        // A cancelled turn is not lost.
        #expect(try await queue.run { _ throws(ImageError) in 3 } == 3)
    }

    @Test("a task cancelled while it works is told through its cancellation")
    func cancelsWork() async throws {
        let queue = ImageQueue(width: 1)
        let release = DispatchSemaphore(value: 0)
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await queue.run { cancellation throws(ImageError) in
                continuation.finish()
                release.wait()
                try cancellation.check()
            }
        }
        for await _ in started {}
        task.cancel()
        release.signal()
        let outcome = await task.result
        #expect(throws: ImageError.cancelled) { try outcome.get() }
    }

    @Test("other tasks of the same priority still run while every processor decodes a picture")
    func leavesThreads() async throws {
        let count = ProcessInfo.processInfo.activeProcessorCount
        let queue = ImageQueue(width: count)
        let working = Locked(0)
        let hasRun = Locked(false)
        let end = Locked(ContinuousClock.Instant?.none)
        let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await queue.run { _ throws(ImageError) in
                        let isLast = working.withLock { working in
                            working += 1
                            return working == count
                        }
                        if isLast {
                            end.withLock { $0 = .now + .seconds(10) }
                            Task.detached(priority: .userInitiated) { hasRun.withLock { $0 = true } }
                        }
                        // Burns CPU without blocking: the system starts extra threads only for threads that block.
                        while !hasRun.withLock({ $0 }) {
                            if let end = end.withLock({ $0 }), end < .now { return false }
                            let pause = ContinuousClock.now + .milliseconds(5)
                            while .now < pause {}
                        }
                        return true
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes == Array(repeating: true, count: count))
    }
}
