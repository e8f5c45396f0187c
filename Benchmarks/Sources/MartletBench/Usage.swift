internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What this process has used so far, its children not counted.
struct Usage: Sendable {
    var cpuSeconds: Double

    static func now() -> Usage {
        let usage = resources()
        return Usage(cpuSeconds: usage.ru_utime.inSeconds + usage.ru_stime.inSeconds)
    }

    /// The most memory that was resident at once.
    static var peakBytes: Int {
        #if canImport(Darwin)
            return resources().ru_maxrss
        #else
            // Not ru_maxrss, which on Linux a process takes over from what it was before exec, here from `swift run`.
            return status("VmHWM:")
        #endif
    }

    /// The memory that is resident now.
    static var residentBytes: Int {
        #if canImport(Darwin)
            // There is none more exact without Mach: what has been resident is an upper bound.
            return peakBytes
        #else
            return status("VmRSS:")
        #endif
    }

    #if !canImport(Darwin)
        private static func status(_ field: String) -> Int {
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix(field) } ?? ""
            return (Int(line.filter(\.isNumber)) ?? 0) * 1024
        }
    #endif

    private static func resources() -> rusage {
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(.init(RUSAGE_SELF.rawValue), &usage)
        #else
            getrusage(RUSAGE_SELF, &usage)
        #endif
        return usage
    }
}

extension timeval {
    fileprivate var inSeconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}

extension Duration {
    /// The duration in seconds.
    var inSeconds: Double { self / .seconds(1) }
}
