/// Lets one process at a time refresh the tokens of a shared record.
///
/// A process holds it during its request to the token endpoint. It does not protect the record itself, which
/// ``TokenStore/update(_:)`` does. So signing out never waits for another process's network request. ``ProcessLock`` is
/// an implementation over a file.
public protocol StoreLock: Sendable {
    /// Waits for the lock. If another process holds it for longer than the lease, takes it away: a suspended process
    /// would otherwise hold it forever.
    /// - Parameter lease: The time for which one holder may keep the lock. It must be longer than a refresh can take.
    /// - Throws: `CancellationError` if the task is cancelled; ``StorageError`` if no lock can be created, for example
    ///   in a folder without write permission.
    func acquire(lease: Duration) async throws -> any HeldStoreLock
}

/// A lock that this process has acquired.
public protocol HeldStoreLock: Sendable {
    /// Whether this process still holds the lock. Another process may take the lock away after the lease, and this one
    /// releases it when the system is about to suspend it.
    ///
    /// An implementation may read the disk, so do not call this on a thread that runs tasks. Use it in the closure of
    /// ``TokenStore/update(_:)``, or call ``isStillHeld()`` instead.
    var isHeld: Bool { get }
    /// Like ``isHeld``, without blocking the calling task. By default, reads ``isHeld`` on a thread that runs no tasks.
    func isStillHeld() async -> Bool
    /// Releases the lock, without waiting until other processes can acquire it. Does nothing if it is not held.
    func release()
}

extension HeldStoreLock {
    /// Reads ``isHeld`` on a thread that runs no tasks.
    public func isStillHeld() async -> Bool { await BlockingQueue.run { isHeld } }
}
