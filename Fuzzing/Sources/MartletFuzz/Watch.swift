#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Says which seed was under way when the process traps: a continuation that is resumed twice ends it at once.
enum Watch {
    // Written by the only thread there is, read by a signal handler on that thread.
    nonisolated(unsafe) private static var seed: UInt64 = 0
    // Only the one thread there is reads and writes it.
    nonisolated(unsafe) private static var isSet = false

    static func begin(_ seed: UInt64) {
        self.seed = seed
        guard !isSet else { return }
        isSet = true
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV] {
            signal(number) { number in
                // Printing is not safe in a handler, and the process is lost anyhow.
                print("\nVIOLATION  The engine traps (signal \(number)), in the schedule of seed \(Watch.seed).")
                fflush(nil)
                _exit(1)
            }
        }
    }
}
