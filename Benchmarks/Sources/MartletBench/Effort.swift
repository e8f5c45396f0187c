/// The extent of the measurements.
enum Effort: Sendable {
    /// One iteration of everything, to check that it works. The figures mean nothing.
    case once
    /// A few seconds, for a rough result.
    case quick
    case full

    /// Returns the number for this effort.
    func pick<Number>(_ once: Number, _ quick: Number, _ full: Number) -> Number {
        switch self {
        case .once: once
        case .quick: quick
        case .full: full
        }
    }
}
