/// Finds calls of the system that may block, and are made where they must not: by a task, which blocks a thread of the
/// cooperative pool, or under a lock, for which such a thread may wait. Release builds find nothing.
package enum BlockingCalls {
    #if DEBUG
        /// Receives the name of each such call, on the thread that makes it. Tests set it.
        package static let observer = Locked<(@Sendable (_ call: String, _ isUnderLock: Bool) -> Void)?>(nil)
        /// The number of locks that the current thread holds.
        static let heldLocks = ThreadNumber()
    #endif

    /// Every function of ``System`` calls this first.
    static func check(_ call: StaticString) {
        #if DEBUG
            let isUnderLock = heldLocks.value > 0
            guard isUnderLock || withUnsafeCurrentTask(body: { $0 != nil }) else { return }
            observer.withLock { $0 }?("\(call)", isUnderLock)
        #endif
    }
}
