/// Lets one process at a time refresh the tokens of a shared record.
///
/// A process holds it during its request to the token endpoint. It does not protect the record itself: the store does
/// that in ``TokenStore/update(_:)``, so that signing out never waits for the network of another process.
/// ``ProcessLock`` is an implementation over a file.
public protocol StoreLock: Sendable {
    /// Waits for the lock. If another process holds it for longer than the lease, takes the lock away from it: a
    /// suspended process would hold its lock forever.
    /// - Parameter lease: The time for which one holder may keep the lock. It must be longer than a refresh can take.
    /// - Throws: `CancellationError` if the task is cancelled; ``StorageError`` if no lock can be created, for example
    ///   in a folder without write permission.
    func acquire(lease: Duration) async throws -> any HeldStoreLock
}

/// A lock that this process has acquired.
public protocol HeldStoreLock: Sendable {
    /// Whether this process still holds the lock. It loses the lock to another process after the lease, and releases it
    /// when the system is about to suspend it.
    ///
    /// An implementation may read the disk, so no task may ask it: ask in the closure of ``TokenStore/update(_:)``, or
    /// call ``isStillHeld()``.
    var isHeld: Bool { get }
    /// Like ``isHeld``, without blocking the calling task. The default implementation asks ``isHeld``, on a thread that
    /// runs no tasks.
    func isStillHeld() async -> Bool
    /// Releases the lock, without waiting until other processes can acquire it. Does nothing if it was lost or released
    /// before.
    func release()
}

extension HeldStoreLock {
    /// Asks ``isHeld``, on a thread that runs no tasks.
    public func isStillHeld() async -> Bool { await BlockingQueue.run { isHeld } }
}
