/// A source of random numbers for jitter.
struct RandomSource: Sendable {
    private let next: @Sendable (ClosedRange<Double>) -> Double

    /// Creates a source that calls `next` for each number.
    init(_ next: @escaping @Sendable (ClosedRange<Double>) -> Double) {
        self.next = next
    }

    /// A number in the range.
    func callAsFunction(in range: ClosedRange<Double>) -> Double {
        min(max(next(range), range.lowerBound), range.upperBound)
    }
}
