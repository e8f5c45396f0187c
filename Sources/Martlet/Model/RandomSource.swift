/// Where jitter comes from. Replace it in tests, so that every wait is known.
public struct RandomSource: Sendable {
    private let next: @Sendable (ClosedRange<Double>) -> Double

    /// A source that asks `next` for each number.
    public init(_ next: @escaping @Sendable (ClosedRange<Double>) -> Double) {
        self.next = next
    }

    /// A number from the range.
    public func callAsFunction(in range: ClosedRange<Double>) -> Double {
        min(max(next(range), range.lowerBound), range.upperBound)
    }

    /// The system's generator.
    public static let system = RandomSource { Double.random(in: $0) }

    /// Always the upper end of the range, so that a test knows each wait.
    public static let upperBound = RandomSource { $0.upperBound }
}
