internal import Foundation

/// Prints the measurements with their targets. A missed target does not fail the run, because a busy machine can cause
/// it.
struct Report {
    let isMarkdown: Bool
    /// Whether the figures are good enough to judge the targets.
    let isSerious: Bool

    func verdict(_ target: String, _ measured: Double, isMet: (Double) -> Bool) {
        guard isSerious else { return }
        print("Target: \(target). Measured \(measured.formatted(2)): \(isMet(measured) ? "met" : "missed").")
    }

    /// Prints the packages that the measurement of a target needs and that are missing.
    func missing(_ command: String, packages: String, for target: String) {
        print(
            """
            Target: \(target). Not measured, because \(command) is not installed. Install it with \
            apt-get install \(packages), or with your system's package manager.
            """)
    }

    func table(_ title: String, _ header: [String], _ rows: [[String]]) {
        let widths = header.indices.map { column in
            ([header] + rows).map { $0[column].count }.max() ?? 0
        }
        func line(_ cells: [String]) -> String {
            let padded = zip(cells, widths).map { String(repeating: " ", count: $1 - $0.count) + $0 }
            return isMarkdown ? "| " + padded.joined(separator: " | ") + " |" : padded.joined(separator: "  ")
        }
        print(isMarkdown ? "**\(title)**\n" : title)
        print(line(header))
        if isMarkdown {
            print("|" + widths.map { String(repeating: "-", count: $0 + 1) + ":" }.joined(separator: "|") + "|")
        }
        for row in rows { print(line(row)) }
        print()
    }
}

extension [Double] {
    /// The middle value, or the mean of the two middle values; 0 if empty.
    var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}

extension Double {
    func formatted(_ digits: Int) -> String {
        String(format: "%.\(digits)f", self)
    }
}
