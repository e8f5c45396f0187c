internal import Dispatch

/// Where files are read and written: the cooperative threads must not block.
enum FileQueue {
    private static let queue = DispatchQueue(label: "martlet.files", attributes: .concurrent)

    /// Does some work there, without anybody waiting for it.
    static func start(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }

    static func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try work() }) }
        }
    }
}
