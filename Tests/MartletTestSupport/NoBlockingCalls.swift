package import MartletStorage
package import Testing

/// Fails a test if a task makes a system call that may block, or if any thread makes one under a lock.
///
/// A test that needs such a call makes it in a ``BlockingQueue``. Debug builds only.
package struct NoBlockingCalls: TestTrait, SuiteTrait, TestScoping {
    package let isRecursive = true

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        #expect(try await FoundCalls.ofTasks(in: function) == [], "made by a task of the test")
        #expect(
            FoundCalls.shared.ofNoTest.withLock { $0 } == [], "made under a lock, or by a detached task of any test")
    }
}

extension Trait where Self == NoBlockingCalls {
    package static var noBlockingCalls: Self { Self() }
}

/// The calls that ``BlockingCalls`` has found.
package struct FoundCalls: Sendable {
    fileprivate static let shared: FoundCalls = {
        let found = FoundCalls()
        #if DEBUG
            BlockingCalls.observer.withLock { $0 = BlockingCalls.Observer(report: found.add) }
        #endif
        return found
    }()

    /// The calls of the current test's tasks, which inherit this value. `nil` in a test that may block.
    @TaskLocal private static var ofTest: Locked<[String]>?

    /// The calls that belong to no test: calls under a lock, and calls of detached tasks, for example of a refresh.
    package let ofNoTest = Locked<[String]>([])

    @Sendable package func add(_ call: String, isUnderLock: Bool) {
        if let calls = Self.ofTest, !isUnderLock {
            calls.withLock { $0.append(call) }
        } else if isUnderLock || Test.current == nil {
            ofNoTest.withLock { $0.append(call) }
        }
    }

    package init() {}

    /// Runs the closure.
    /// - Returns: The calls of its tasks.
    package static func ofTasks(in body: @Sendable () async throws -> Void) async rethrows -> [String] {
        _ = shared
        let calls = Locked<[String]>([])
        try await $ofTest.withValue(calls) { try await body() }
        return calls.withLock { $0 }
    }
}
