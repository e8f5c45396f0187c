/// A random number generator that returns the same numbers for the same seed on every platform (SplitMix64).
///
/// ```swift
/// var dice = SeededGenerator(seed: 7)
/// let delay = Duration.milliseconds(dice.number(below: 100))
/// ```
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator with a seed.
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

    /// Returns an integer from 0 up to, but not including, `limit`, which must be positive.
    public mutating func number(below limit: Int) -> Int {
        // The bias is negligible, and unlike `Int.random(in:using:)`, the result does not depend on the standard
        // library's version.
        Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(limit)).high)
    }

    /// Returns `true` with a probability of `percent`, from 0 to 100.
    public mutating func isTrue(inPercent percent: Int) -> Bool {
        number(below: 100) < percent
    }
}
