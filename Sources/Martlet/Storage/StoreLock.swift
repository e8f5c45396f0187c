/// Keeps processes that share a record from renewing its tokens at the same time.
///
/// It guards what takes long, the talk with the token endpoint. That the record itself is never changed by two at once is
/// the store's own duty (``TokenStore/update(_:)``), so that signing out never waits for another process's network.
public protocol StoreLock: Sendable {
    /// Waits for the lock, however many have it before, and takes it away from whoever has had it for longer than the
    /// lease: a process that was stopped holds its lock for ever.
    /// - Parameter lease: How long a holder is left alone. It must be longer than a refresh may take.
    /// - Throws: `CancellationError` when the task is cancelled; ``StorageFailure`` where there can be no lock, such as
    ///   in a folder that cannot be written to.
    func acquire(lease: Duration) async throws -> any HeldStoreLock
}

/// A lock that somebody holds.
public protocol HeldStoreLock: Sendable {
    /// Whether it is still this holder's: it is lost to another process when it was held for longer than the lease, and
    /// given up when the system is about to suspend this one.
    var isHeld: Bool { get }
    /// Gives it back; does nothing where it was lost or given back before.
    func release()
}
