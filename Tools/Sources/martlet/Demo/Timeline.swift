/// Draws events over time as text: one row for each lane, and an axis in milliseconds.
struct Timeline: Sendable {
    /// The content of a row.
    enum Content: Sendable {
        /// Moments in time. The more moments fall into a column, the higher its bar.
        case moments([Duration])
        /// Periods of time.
        case spans([ClosedRange<Duration>])
    }

    /// The events that one row shows.
    struct Lane: Sendable {
        let name: String
        let content: Content

        init(_ name: String, _ content: Content) {
            self.name = name
            self.content = content
        }
    }

    /// A lane as it is drawn.
    struct Row: Sendable, Hashable {
        let name: String
        let plot: String
        /// The number of moments or periods that the row shows.
        let count: Int
    }

    /// The period to draw. Events outside of it are omitted.
    let period: ClosedRange<Duration>
    let lanes: [Lane]

    /// Draws each lane into a row of this many columns.
    func rows(columns: Int) -> [Row] {
        lanes.map { lane in
            switch lane.content {
            case .moments(let moments):
                let visible = moments.filter(period.contains)
                return Row(name: lane.name, plot: plot(visible, columns), count: visible.count)
            case .spans(let spans):
                let visible = spans.filter(period.overlaps).map { $0.clamped(to: period) }
                return Row(name: lane.name, plot: plot(visible, columns), count: visible.count)
            }
        }
    }

    /// The line of tick marks, and the line of their times in milliseconds since the start of the period.
    func axis(columns: Int) -> (ticks: String, labels: String) {
        let total = (period.upperBound - period.lowerBound).inMilliseconds
        var ticks = [Character](repeating: "─", count: columns)
        var labels = ""
        guard total > 0 else { return (String(ticks), "ms") }
        let step = Self.step(for: total, columns: columns)
        for number in 0... {
            let value = number * step
            let column = Int(Double(value) / total * Double(columns))
            guard column < columns else { break }
            ticks[column] = "┬"
            labels += String(repeating: " ", count: max(0, column - labels.count)) + String(value)
        }
        return (String(ticks), labels + " ms")
    }

    private static let heights = Array("▁▂▃▄▅▆▇█")

    private func plot(_ moments: [Duration], _ columns: Int) -> String {
        var counts = [Int](repeating: 0, count: columns)
        for moment in moments { counts[column(of: moment, columns)] += 1 }
        let most = counts.max() ?? 0
        return String(
            counts.map { count -> Character in
                count == 0 ? " " : Self.heights[(count * Self.heights.count - 1) / most]
            })
    }

    private func plot(_ spans: [ClosedRange<Duration>], _ columns: Int) -> String {
        var cells = [Character](repeating: " ", count: columns)
        for span in spans {
            let (first, last) = (column(of: span.lowerBound, columns), column(of: span.upperBound, columns))
            for index in first...last { cells[index] = "━" }
            // Mark the start, so that adjacent periods can be told apart.
            cells[first] = first == last ? "◆" : "┣"
        }
        return String(cells)
    }

    private func column(of moment: Duration, _ columns: Int) -> Int {
        let total = (period.upperBound - period.lowerBound).inMilliseconds
        guard total > 0 else { return 0 }
        let share = (moment - period.lowerBound).inMilliseconds / total
        return min(columns - 1, max(0, Int(share * Double(columns))))
    }

    /// The smallest step of 1, 2, 5, 10, 20, 50, … that leaves at least eight columns between ticks.
    private static func step(for total: Double, columns: Int) -> Int {
        let least = total * 8 / Double(columns)
        var power = 1
        while true {
            for factor in [1, 2, 5] where Double(factor * power) >= least { return factor * power }
            power *= 10
        }
    }
}
