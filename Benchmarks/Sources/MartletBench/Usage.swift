#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What this process has used so far, its children not counted.
struct Usage: Sendable {
    #if canImport(Darwin)
        private static let memoryUnit = 1
    #else
        private static let memoryUnit = 1024
    #endif

    var cpuSeconds: Double
    var peakBytes: Int

    static func now() -> Usage {
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(.init(RUSAGE_SELF.rawValue), &usage)
        #else
            getrusage(RUSAGE_SELF, &usage)
        #endif
        return Usage(
            cpuSeconds: usage.ru_utime.inSeconds + usage.ru_stime.inSeconds,
            peakBytes: Int(usage.ru_maxrss) * memoryUnit)
    }
}

extension timeval {
    fileprivate var inSeconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}

extension Duration {
    /// The duration in seconds.
    var inSeconds: Double { self / .seconds(1) }
}
