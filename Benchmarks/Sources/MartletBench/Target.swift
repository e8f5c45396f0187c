/// A figure that a measurement should meet.
struct Target: Sendable {
    enum Bound: Sendable {
        case atLeast(Double)
        case atMost(Double)
        case exactly(Double)
    }

    var what: String
    var bound: Bound
    /// `nil` if it was not measured.
    var measured: Double?
    /// The number of digits after the decimal point.
    var digits = 2

    fileprivate var row: [String] {
        let (limit, isMet) =
            switch bound {
            case .atLeast(let limit): ("at least \(limit.formatted(digits))", measured.map { $0 >= limit })
            case .atMost(let limit): ("at most \(limit.formatted(digits))", measured.map { $0 <= limit })
            case .exactly(let limit): (limit.formatted(digits), measured.map { $0 == limit })
            }
        return [
            what, limit, measured?.formatted(digits) ?? "", isMet.map { $0 ? "met" : "missed" } ?? "not measured",
        ]
    }
}

extension Report {
    /// Prints the targets and whether they are met.
    func show(_ targets: [Target]) {
        guard isSerious, !targets.isEmpty else { return }
        table("Targets", ["", "target", "measured", ""], targets.map(\.row))
    }
}
