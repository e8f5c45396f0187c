internal import MartletTesting

extension SeededGenerator {
    /// Numbers of their own for one part of something larger.
    init(seed: UInt64, _ first: Int, _ others: Int...) {
        self.init(seed: seed)
        for part in [first] + others { self = SeededGenerator(seed: next() ^ UInt64(truncatingIfNeeded: part)) }
    }

    /// Whether something happens that has this probability.
    mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &self) < probability
    }

    mutating func milliseconds(_ range: ClosedRange<Int>) -> Duration {
        .milliseconds(Int.random(in: range, using: &self))
    }
}
