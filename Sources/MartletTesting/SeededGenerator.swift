/// Numbers that look random and are the same for the same seed, on every machine (SplitMix64).
///
/// ```swift
/// var dice = SeededGenerator(seed: 7)
/// let delay = Duration.milliseconds(dice.number(below: 100))
/// ```
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Numbers of this seed.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A whole number from 0 to just below `limit`, which must be above 0.
    public mutating func number(below limit: Int) -> Int {
        // The bias is far below anything that could be seen, and the answer does not depend on the standard library.
        Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(limit)).high)
    }

    /// Yes, as often out of a hundred times.
    public mutating func isTrue(inPercent percent: Int) -> Bool {
        number(below: 100) < percent
    }
}
