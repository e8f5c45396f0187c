/// Detects system calls that may block where they must not: in a task, because they block a thread of the cooperative
/// pool, or under a lock, because such a thread may wait for the lock. Does nothing in release builds.
package enum BlockingCalls {
    #if DEBUG
        package struct Observer: Sendable {
            /// Receives the name of each such call, on the thread that makes it.
            let report: @Sendable (_ call: String, _ isUnderLock: Bool) -> Void

            package init(report: @escaping @Sendable (_ call: String, _ isUnderLock: Bool) -> Void) {
                self.report = report
            }
        }

        /// Tests set it.
        package static let observer = Locked<Observer?>(nil)
        /// The number of locks that the current thread holds.
        package static let heldLocks = ThreadNumber()
    #endif

    /// Every function of ``System`` calls this first.
    package static func check(_ call: StaticString) {
        #if DEBUG
            let isUnderLock = heldLocks.value > 0
            guard isUnderLock || withUnsafeCurrentTask(body: { $0 != nil }) else { return }
            observer.withLock { $0 }?.report("\(call)", isUnderLock)
        #endif
    }
}
