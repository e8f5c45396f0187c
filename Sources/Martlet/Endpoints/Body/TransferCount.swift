/// The progress of a body, in bytes.
public struct TransferCount: Sendable, Hashable {
    /// The number of bytes transferred.
    public let completed: Int64
    /// The total number of bytes, if known.
    public let total: Int64?

    /// Creates a count.
    /// - Parameters:
    ///   - completed: The number of bytes transferred; not below zero.
    ///   - total: The total number of bytes; `nil` if it is unknown.
    public init(completed: Int64 = 0, total: Int64? = nil) {
        self.completed = completed
        self.total = total
    }

    /// The progress from 0 to 1; `nil` if the total is unknown.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(Double(completed) / Double(total), 1) : 1
    }

    var isComplete: Bool { completed == total }
}
