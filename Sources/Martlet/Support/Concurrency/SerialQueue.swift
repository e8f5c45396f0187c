/// Runs operations one at a time, in the order in which they were added.
final class SerialQueue: Sendable {
    private let last = Locked<Task<Void, Never>?>(nil)

    /// Adds an operation. It never blocks, so it may be called with a lock held.
    /// - Parameter operation: Starts at once, and gets a function that suspends it until its turn comes. What it does
    ///   before overlaps with other operations. It may end before its turn.
    func add(_ operation: @escaping @Sendable (_ turn: @Sendable () async -> Void) async -> Void) {
        last.withLock { last in
            last = Task { [previous = last] in
                await operation { await previous?.value }
                await previous?.value
            }
        }
    }

    /// Returns when all operations that were added before have finished.
    func flush() async {
        await last.withLock { $0 }?.value
    }
}
