#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Prints how to reproduce a trap of the process, for example of a continuation that is resumed twice.
public enum TrapReporter {
    // Written and read on the only thread; a signal handler runs on it too.
    nonisolated(unsafe) private static var describe: () -> String = { "" }
    // Accessed on the only thread.
    nonisolated(unsafe) private static var isSet = false

    /// Sets what is printed.
    /// - Parameter describe: Names the current seed or choices.
    public static func begin(_ describe: @escaping () -> String) {
        self.describe = describe
        guard !isSet else { return }
        isSet = true
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV] {
            signal(number) { number in
                // Printing is unsafe in a signal handler, but the process ends here anyway.
                print("\nVIOLATION  The process trapped (signal \(number)).\n\(TrapReporter.describe())")
                fflush(nil)
                _exit(1)
            }
        }
    }
}
