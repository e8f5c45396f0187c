internal import Foundation

/// The measurements of a number of consecutive calls.
struct Slice: Codable, Sendable {
    var calls: Int
    var failures: Int
    var seconds: Double
    var cpuSeconds: Double
    /// The resident memory of the client's process afterwards, and at its peak.
    var residentBytes: Int
    var peakBytes: Int

    var callsPerSecond: Double { Double(calls) / seconds }
    var cpuMicroseconds: Double { cpuSeconds / Double(calls) * 1e6 }

    /// Makes at least `calls` calls, as many at once as the lane says.
    static func run(_ calls: Int, with caller: any Caller, in lane: Lane) async -> Slice {
        let perTask = max(calls / lane.concurrency, 1)
        let before = Usage.now()
        let start = ContinuousClock.now
        let failures = await withTaskGroup(of: Int.self) { group in
            for task in 0..<lane.concurrency {
                group.addTask {
                    var failures = 0
                    for call in 0..<perTask {
                        let page = try? await caller.page(at: lane.path(task + call))
                        if page?.items.count != lane.items { failures += 1 }
                    }
                    return failures
                }
            }
            return await group.reduce(0, +)
        }
        let wall = start.duration(to: .now)
        return Slice(
            calls: perTask * lane.concurrency, failures: failures, seconds: wall.inSeconds,
            cpuSeconds: Usage.now().cpuSeconds - before.cpuSeconds, residentBytes: Usage.residentBytes,
            peakBytes: Usage.peakBytes)
    }
}

extension [Slice] {
    var callsPerSecond: Double { map(\.callsPerSecond).median }
    var cpuMicroseconds: Double { map(\.cpuMicroseconds).median }
    var peakBytes: Int { map(\.peakBytes).max() ?? 0 }
}
