internal import Dispatch

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Where files are read and written: the cooperative threads must not block.
///
/// On Linux those are the threads that Dispatch has for all its concurrent queues together, one for each processor. To go
/// there and back costs hardly anything, and to another thread more than to read what it reads; but what hangs there stops
/// everything else. So all but one of them may be used, and what is more gets threads of its own.
enum FileQueue {
    private static let nearby = DispatchQueue(label: "martlet.files", attributes: .concurrent)
    /// How much more work may be done nearby.
    private static let places = Locked(ProcessInfo.processInfo.activeProcessorCount - 1)

    /// Does some work there, without anybody waiting for it.
    static func start(_ work: @escaping @Sendable () -> Void) {
        start { leave in
            work()
            leave()
        }
    }

    static func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            start { leave in
                let result = Swift.Result { try work() }
                // Before anybody goes on, who may come back at once.
                leave()
                continuation.resume(with: result)
            }
        }
    }

    private static func start(_ work: @escaping @Sendable (_ leave: () -> Void) -> Void) {
        let hasPlace = places.withLock { places in
            guard places > 0 else { return false }
            places -= 1
            return true
        }
        guard hasPlace else {
            // A serial queue gets a thread that no task runs on.
            return DispatchQueue(label: "martlet.file").async { work {} }
        }
        nearby.async { work { places.withLock { $0 += 1 } } }
    }
}
