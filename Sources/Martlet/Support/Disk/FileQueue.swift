internal import Dispatch

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Runs the reading and writing of files, which must not block all threads of the cooperative pool.
///
/// On Linux the cooperative pool is the pool of Dispatch's concurrent queues, with one thread per processor. Switching
/// to such a queue costs almost nothing; switching to another thread costs more than most reads. But work that hangs
/// there stops everything else. So all of its threads but one may be used at a time, and further work gets its own
/// threads.
enum FileQueue {
    private static let pool = DispatchQueue(label: "martlet.files", attributes: .concurrent)
    /// How many threads of the pool may still be used.
    private static let freeThreads = Locked(ProcessInfo.processInfo.activeProcessorCount - 1)

    /// Runs work without waiting for it.
    static func start(_ work: @escaping @Sendable () -> Void) {
        start { finish in
            work()
            finish()
        }
    }

    static func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            start { finish in
                let result = Swift.Result { try work() }
                // First: the caller may start more work as soon as it resumes.
                finish()
                continuation.resume(with: result)
            }
        }
    }

    private static func start(_ work: @escaping @Sendable (_ finish: () -> Void) -> Void) {
        let hasThread = freeThreads.withLock { count in
            guard count > 0 else { return false }
            count -= 1
            return true
        }
        guard hasThread else {
            // A serial queue gets a thread outside the pool.
            return DispatchQueue(label: "martlet.file").async { work {} }
        }
        pool.async { work { freeThreads.withLock { $0 += 1 } } }
    }
}
