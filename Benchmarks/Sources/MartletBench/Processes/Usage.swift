internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The resources used by this process, without its children.
struct Usage: Sendable {
    var cpuSeconds: Double

    static func now() -> Usage {
        let usage = resources()
        return Usage(cpuSeconds: usage.ru_utime.inSeconds + usage.ru_stime.inSeconds)
    }

    /// The peak resident memory.
    static var peakBytes: Int {
        #if canImport(Darwin)
            return resources().ru_maxrss
        #else
            // Not `ru_maxrss`: on Linux a process inherits it across `exec`, here from `swift run`.
            return status("VmHWM:")
        #endif
    }

    /// The current resident memory. On Apple platforms, the peak.
    static var residentBytes: Int {
        #if canImport(Darwin)
            // The exact value needs Mach calls; the peak is an upper bound.
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
    var inSeconds: Double { self / .seconds(1) }
}
