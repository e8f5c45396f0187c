internal import MartletLibc

/// Finds calls of the system that may block, and are made where they must not: by a task, which blocks a thread of the
/// cooperative pool, or under a lock, for which such a thread may wait.
package enum BlockingCalls {
    /// Receives the name of each such call of a task. Tests set it; child tasks and tasks that they start inherit it.
    @TaskLocal package static var reportFromTask: (@Sendable (_ call: String) -> Void)?

    #if DEBUG
        /// The calls that were made under a ``Locked``, by any thread of the process.
        package static let madeUnderLock = Locked<[String]>([])
    #endif

    /// Every function of ``System`` calls this first.
    static func check(_ call: StaticString) {
        reportFromTask?("\(call)")
        #if DEBUG
            if HeldLocks.count > 0 { madeUnderLock.withLock { $0.append("\(call)") } }
        #endif
    }
}

#if DEBUG
    /// How many locks the current thread holds.
    enum HeldLocks {
        private static let key: pthread_key_t = {
            var key = pthread_key_t()
            pthread_key_create(&key, nil)
            return key
        }()

        static var count: Int {
            get { Int(bitPattern: pthread_getspecific(key)) }
            set { pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
        }
    }
#endif
