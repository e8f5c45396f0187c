/// Errors that tests inject into the calls of ``System``. Release builds have none.
enum SystemFaults {
    #if DEBUG
        /// Fails the calls of one function for the paths with a prefix.
        struct Fault: Sendable {
            let call: String
            let prefix: String
            let ending: String
            let errno: Int32
        }

        static let injected = Locked<[Fault]>([])
    #endif

    /// The error of a call, if a test has injected one. The caller sets `errno` to it and fails.
    static func error(of call: StaticString, at path: UnsafePointer<CChar>) -> Int32? {
        #if DEBUG
            let faults = injected.withLock { $0 }
            if !faults.isEmpty {
                let path = String(cString: path)
                return faults.first { fault in
                    fault.call == "\(call)" && path.hasPrefix(fault.prefix) && path.hasSuffix(fault.ending)
                }?.errno
            }
        #endif
        return nil
    }
}
