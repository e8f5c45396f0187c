internal import ArgumentParser
internal import Foundation

/// Prints the measurements with their targets. A missed target does not fail the run, because a busy machine can cause
/// it.
struct Report {
    let isMarkdown: Bool

    /// The target for the median ratio.
    private static let targetRatio = 0.95

    func show(_ comparisons: [Comparison]) {
        let title = "Typed authenticated GETs of 1 KB of JSON, Martlet / bare async-http-client"
        table(
            title,
            [
                "concurrency", "Martlet calls/s", "bare calls/s", "ratio min–median–max", "Martlet CPU s/1,000",
                "bare CPU s/1,000",
            ],
            comparisons.map { comparison in
                let ratios = comparison.ratios
                return [
                    "\(comparison.concurrency)",
                    comparison.martlet.map(\.callsPerSecond).median.formatted(0),
                    comparison.bare.map(\.callsPerSecond).median.formatted(0),
                    [ratios.first ?? 0, ratios.median, ratios.last ?? 0].map { $0.formatted(2) }.joined(separator: "–"),
                    comparison.martlet.map(\.cpuPerThousand).median.formatted(3),
                    comparison.bare.map(\.cpuPerThousand).median.formatted(3),
                ]
            })
        let verdicts = comparisons.map { comparison in
            "\(comparison.concurrency) \(comparison.ratios.median >= Self.targetRatio ? "met" : "missed")"
        }
        let target = Self.targetRatio.formatted(2)
        print("Target: a median ratio of at least \(target). At \(verdicts.joined(separator: ", at ")).\n")
    }

    func show(_ burst: Burst) {
        table(
            "\(burst.calls) calls at once on an invalidated token, refresh takes 50 ms",
            ["wall ms", "requests", "401s", "refreshes", "successes"],
            [
                [
                    (burst.wall.inSeconds * 1000).formatted(0), "\(burst.requests)", "\(burst.refused)",
                    "\(burst.refreshes)", "\(burst.successes)",
                ]
            ])
        let isMet = burst.refreshes == 1 && burst.successes == burst.calls
        print("Target: one refresh, every call succeeds: \(isMet ? "met" : "missed").\n")
    }

    func show(peakMemory bytes: Int) {
        print("Peak memory of the process with both clients: \((Double(bytes) / 1e6).formatted(0)) MB.")
    }

    /// Prints whether a measurement meets its target.
    func verdict(_ target: String, _ measured: Double, isMet: (Double) -> Bool) {
        print("Target: \(target). Measured \(measured.formatted(2)): \(isMet(measured) ? "met" : "missed").")
    }

    /// Prints which packages a target needs that could not be measured.
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

extension Side: ExpressibleByArgument {}
