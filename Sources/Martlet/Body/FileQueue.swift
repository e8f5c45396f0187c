internal import Dispatch

/// Where files are read and written: the cooperative threads must not block.
enum FileQueue {
    /// Does some work there, without anybody waiting for it.
    static func start(_ work: @escaping @Sendable () -> Void) {
        // On Linux the cooperative threads are those that Dispatch has for all its concurrent queues together, and few. A
        // serial queue gets another one.
        DispatchQueue(label: "martlet.file").async(execute: work)
    }

    static func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            start { continuation.resume(with: Swift.Result { try work() }) }
        }
    }
}
