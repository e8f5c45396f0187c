/// A set of status codes.
public struct StatusCodes: Sendable, Hashable, ExpressibleByArrayLiteral {
    package let ranges: [Range<Int>]

    /// Creates a set from ranges: `StatusCodes(200..<300, 304..<305)`.
    public init(_ ranges: Range<Int>...) {
        self.ranges = ranges
    }

    private init(ranges: [Range<Int>]) {
        self.ranges = ranges
    }

    /// Creates a set from single codes: `[200, 404]`.
    public init(arrayLiteral elements: Int...) {
        self.ranges = elements.map { $0..<($0 + 1) }
    }

    /// 200 to 299.
    public static let successful = StatusCodes(200..<300)
    /// All statuses; the caller examines the status itself.
    public static let any = StatusCodes(100..<1000)

    /// Whether the set contains the code.
    public func contains(_ code: Int) -> Bool {
        ranges.contains { $0.contains(code) }
    }

    func adding(_ code: Int) -> StatusCodes {
        StatusCodes(ranges: ranges + [code..<(code + 1)])
    }
}
