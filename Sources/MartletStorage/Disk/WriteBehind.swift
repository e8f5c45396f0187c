#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Writes pieces on a thread that may block, while the next pieces arrive. Only one task may add pieces and finish.
///
/// Switching threads costs more than writing one piece. So the writer starts when it has a portion of pieces, and
/// continues while there is another one. The task that adds pieces waits only if several portions are unwritten.
package final class WriteBehind: Sendable {
    /// The size of a portion, in bytes and in pieces, whichever is reached first. It is large enough that switching
    /// threads costs little, and small enough for the processor's cache.
    private static let (gatheredSize, gatheredCount) = (256 * 1024, 256)
    /// The number of portions that may wait while another is written.
    private static let maximumPortions = 4

    /// The pieces that wait to be written, and the tasks that wait for the writer.
    private struct State {
        var pieces: [Data] = []
        var size = 0
        var isWriting = false
        var failure: (any Error)?
        /// The task that waits for room to add more.
        var adding: CheckedContinuation<Void, Never>?
        /// The task that waits until everything is written.
        var finishing: CheckedContinuation<Int64, any Error>?

        func holds(_ portions: Int) -> Bool {
            size >= portions * gatheredSize || pieces.count >= portions * gatheredCount
        }

        mutating func take() -> [Data] {
            defer { (pieces, size) = ([], 0) }
            return pieces
        }
    }

    private let queue: BlockingQueue
    private let write: @Sendable ([Data]) throws -> Int64
    private let state = Locked(State())

    /// - Parameters:
    ///   - queue: The queue in which the pieces are written.
    ///   - write: Appends pieces, and returns the total number of bytes. Blocks.
    package init(on queue: BlockingQueue, _ write: @escaping @Sendable ([Data]) throws -> Int64) {
        self.queue = queue
        self.write = write
    }

    /// Appends a piece.
    /// - Throws: The error of writing an earlier piece.
    package func add(_ piece: Data) async throws {
        let (mustStart, mustWait) = try state.withLock { state in
            if let failure = state.failure { throw failure }
            state.pieces.append(piece)
            state.size += piece.count
            let mustStart = !state.isWriting && state.holds(1)
            if mustStart { state.isWriting = true }
            return (mustStart, state.holds(Self.maximumPortions))
        }
        if mustStart { start() }
        guard mustWait else { return }
        await withCheckedContinuation { continuation in
            let hasRoom = state.withLock { state in
                let hasRoom = state.failure != nil || !state.holds(Self.maximumPortions)
                if !hasRoom { state.adding = continuation }
                return hasRoom
            }
            if hasRoom { continuation.resume() }
        }
    }

    /// Writes everything that was added.
    /// - Returns: The total number of bytes.
    package func finish() async throws -> Int64 {
        try await withCheckedThrowingContinuation { continuation in
            let mustStart = state.withLock { state in
                defer { state.isWriting = true }
                state.finishing = continuation
                return !state.isWriting
            }
            if mustStart { start() }
        }
    }

    private func start() {
        queue.start { self.writeAll() }
    }

    private func writeAll() {
        while true {
            let (pieces, adding, finishing) = state.withLock { state in
                defer { (state.adding, state.finishing) = (nil, nil) }
                guard state.failure == nil, state.finishing != nil || state.holds(1) else {
                    state.isWriting = false
                    return (nil as [Data]?, state.adding, state.finishing)
                }
                return (state.take(), state.adding, state.finishing)
            }
            adding?.resume()
            guard let pieces else {
                if let finishing, let failure = state.withLock({ $0.failure }) { finishing.resume(throwing: failure) }
                return
            }
            let outcome = Result { try write(pieces) }
            if case .failure(let error) = outcome { state.withLock { $0.failure = error } }
            finishing?.resume(with: outcome)
        }
    }
}
