import Testing

@testable import Martlet

/// Fails a test if one of its tasks makes a call of the system that may block, or if any thread makes one under a lock.
///
/// A test that makes such a call itself makes it in a ``BlockingQueue``.
struct NoBlockingCalls: TestTrait, SuiteTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let calls = Locked<[String]>([])
        try await BlockingCalls.$reportFromTask.withValue({ call in calls.withLock { $0.append(call) } }) {
            try await function()
        }
        #expect(calls.withLock { $0 } == [], "made by a task, on a thread of the cooperative pool")
        #if DEBUG
            #expect(BlockingCalls.madeUnderLock.withLock { $0 } == [], "made under a lock")
        #endif
    }
}

extension Trait where Self == NoBlockingCalls {
    static var noBlockingCalls: Self { Self() }
}
