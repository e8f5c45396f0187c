#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Has pieces written on a thread that may block, while the next ones come. One task adds them and finishes.
///
/// The writer is only woken for as much as is worth it, and goes on as long as there is more; whoever adds waits only if it
/// is far behind. To wait for each other costs more than to write.
final class WriteBehind: Sendable {
    /// How much is gathered before it is written, in bytes and in pieces: enough that the hop to another thread costs
    /// little, and few enough that it is still in the processor's cache then.
    private static let (gatheredSize, gatheredCount) = (256 * 1024, 256)
    /// How much may wait, in such portions, while as much is written.
    private static let maximumPortions = 4

    private struct State {
        var pieces: [Data] = []
        var size = 0
        var isWriting = false
        var failure: (any Error)?
        /// Waits until there is room for more.
        var adding: CheckedContinuation<Void, Never>?
        /// Waits for the end.
        var finishing: CheckedContinuation<Int64, any Error>?

        func holds(_ portions: Int) -> Bool {
            size >= portions * gatheredSize || pieces.count >= portions * gatheredCount
        }

        mutating func take() -> [Data] {
            defer { (pieces, size) = ([], 0) }
            return pieces
        }
    }

    private let write: @Sendable ([Data]) throws -> Int64
    private let state = Locked(State())

    /// - Parameter write: Writes pieces behind those before, and says how many bytes there are then. Blocks.
    init(_ write: @escaping @Sendable ([Data]) throws -> Int64) {
        self.write = write
    }

    /// Has a piece written after those before.
    /// - Throws: What writing those before has thrown.
    func add(_ piece: Data) async throws {
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

    /// Has all written that was added.
    /// - Returns: How many bytes there are then.
    func finish() async throws -> Int64 {
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
        FileQueue.start { self.writeAll() }
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
