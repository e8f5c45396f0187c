internal import Foundation

/// The memory of many calls that wait for the same refresh.
struct Waiters {
    /// The measurements of one process.
    struct Measurement: Codable {
        /// The resident memory that all tasks added until they waited.
        var bytes: Int
        var refreshes: Int
    }

    let count: Int
    let bytesPerTask: Double
    /// Beyond the task.
    let bytesPerCall: Double
    let refreshes: Int

    init(count: Int) throws {
        func measure(_ kind: WaitersCommand.Kind) throws -> Measurement {
            let printed = try Children.run(Children.own, ["waiters", kind.rawValue, "\(count)"])
            return try JSONDecoder().decode(Measurement.self, from: printed)
        }
        let (tasks, calls) = (try measure(.tasks), try measure(.calls))
        self.count = count
        bytesPerTask = Double(tasks.bytes) / Double(count)
        bytesPerCall = Double(calls.bytes - tasks.bytes) / Double(count)
        refreshes = calls.refreshes
    }
}
