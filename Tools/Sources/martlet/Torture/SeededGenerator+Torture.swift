internal import MartletTesting

extension SeededGenerator {
    /// Derives an independent sequence from a seed and the numbers of a part, such as a mode and a round.
    init(seed: UInt64, _ first: Int, _ others: Int...) {
        self.init(seed: seed)
        for part in [first] + others { self = SeededGenerator(seed: next() ^ UInt64(truncatingIfNeeded: part)) }
    }

    /// Returns `true` with the given probability.
    mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &self) < probability
    }

    mutating func milliseconds(_ range: ClosedRange<Int>) -> Duration {
        .milliseconds(Int.random(in: range, using: &self))
    }
}
