#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Prints the current seed when the process traps.
enum TrapReporter {
    // Written and read on the only thread; a signal handler runs on it too.
    nonisolated(unsafe) static var current: UInt64 = 0

    static func install() {
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV] {
            signal(number) { number in
                // Printing is unsafe in a signal handler, but the process ends here anyway.
                print("\nTRAP (signal \(number))  --seed \(TrapReporter.current)")
                fflush(nil)
                _exit(1)
            }
        }
    }
}
