/// Errors that tests inject into the calls of ``System``. Release builds have none.
enum SystemFaults {
    #if DEBUG
        /// Makes the calls of one function fail for matching paths.
        struct Fault: Sendable {
            let call: String
            let prefix: String
            let ending: String
            let errno: Int32
        }

        private static let injected = Locked<[Fault]>([])

        /// Makes calls fail while the closure runs.
        /// - Parameters:
        ///   - errors: The error of each function.
        ///   - folder: The path of the folder in which the calls fail.
        ///   - ending: The end of the paths for which they fail.
        static func inject(
            _ errors: [String: Int32], in folder: String, ending: String = "", _ body: () async throws -> Void
        ) async rethrows {
            let prefix = folder + "/"
            injected.withLock { faults in
                faults += errors.map { Fault(call: $0.key, prefix: prefix, ending: ending, errno: $0.value) }
            }
            defer { injected.withLock { $0.removeAll { $0.prefix == prefix } } }
            try await body()
        }
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
