extension Duration {
    /// The duration in milliseconds, including the fraction.
    var inMilliseconds: Double {
        Double(components.seconds) * 1000 + Double(components.attoseconds) / 1e15
    }

    /// The duration as readable text: `38 ms`, `1.2 s`.
    var readable: String {
        let milliseconds = Int(inMilliseconds.rounded())
        guard milliseconds >= 1000 else { return "\(milliseconds) ms" }
        return "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
    }
}

extension Int {
    /// The number with commas between groups of three digits: `70,562`.
    var grouped: String {
        guard magnitude >= 1000 else { return String(self) }
        let rest = String(magnitude % 1000)
        return "\((self / 1000).grouped)," + String(repeating: "0", count: 3 - rest.count) + rest
    }
}
