/// A bar chart of the calls/s of Martlet's clients relative to their bare transports, legible on light and dark pages.
struct Chart {
    private static let clients = [ClientName.martlet, .martletJSON, .martletURLSession]
    private static let barWidth = 28.0
    private static let gap = 40.0
    private static let plot = (left: 52.0, top: 64.0, height: 280.0)

    private let groups: [(label: String, bars: [(client: ClientName, ratios: [Double])])]

    init(_ calls: Calls) {
        groups = calls.loads.compactMap { load in
            guard let contest = calls.contests[load] else { return nil }
            return (
                load.label,
                Self.clients.compactMap { client in
                    client.rival.map { (client, contest.ratios(\.callsPerSecond, client, to: $0)) }
                }
            )
        }
    }

    private var groupWidth: Double { Self.barWidth * Double(Self.clients.count) + Self.gap }
    private var width: Double { Self.plot.left + groupWidth * Double(groups.count) + 16 }
    private var bottom: Double { Self.plot.top + Self.plot.height }

    /// The top of the scale: the next multiple of one half above all medians.
    private var top: Double {
        let highest = groups.flatMap(\.bars).map(\.ratios.median).max() ?? 1
        return max(1.5, ((highest + 0.1) * 2).rounded(.up) / 2)
    }

    private func y(_ ratio: Double) -> Double {
        bottom - min(max(ratio, 0), top) / top * Self.plot.height
    }

    var svg: String {
        let height = bottom + 62
        let size = "\(width.formatted(0)) \(height.formatted(0))"
        var lines = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(size)" width="\(width.formatted(0))" \
            height="\(height.formatted(0))" font-family="Helvetica, Arial, sans-serif" font-size="12">
            """,
            "<title>Calls per second relative to the bare transport with JSONDecoder</title>", Self.style,
            #"<rect class="page" width="100%" height="100%"/>"#,
            text(16, 24, "Calls per second relative to the bare transport with JSONDecoder", "start", "title"),
        ]
        lines += legend() + scale()
        for (index, group) in groups.enumerated() {
            let left = Self.plot.left + groupWidth * Double(index) + Self.gap / 2
            for (position, bar) in group.bars.enumerated() {
                lines += self.bar(bar.ratios, bar.client, at: left + Self.barWidth * Double(position))
            }
            lines.append(text(left + (groupWidth - Self.gap) / 2, bottom + 18, group.label, "middle"))
        }
        let note =
            "calls at once · bars: medians, lines: least and greatest · pinned: server and client have a core each"
        lines += [text(Self.plot.left, bottom + 44, note, "start", "quiet"), "</svg>", ""]
        return lines.joined(separator: "\n")
    }

    private func legend() -> [String] {
        var left = 16.0
        return Self.clients.flatMap { client -> [String] in
            defer { left += 34 + Double(client.title.count) * 6.4 }
            return [
                rectangle(left, 36, 12, 12, client.rawValue), text(left + 18, 46.5, client.title, "start"),
            ]
        }
    }

    /// Draws a line at every half, and a strong one for the bare transport.
    private func scale() -> [String] {
        stride(from: 0, through: top, by: 0.5).flatMap { ratio in
            [
                line(Self.plot.left, y(ratio), width - 16, y(ratio), ratio == 1 ? "bare" : "grid"),
                text(Self.plot.left - 8, y(ratio) + 4, ratio.formatted(1), "end"),
            ]
        }
    }

    private func bar(_ ratios: [Double], _ client: ClientName, at left: Double) -> [String] {
        let center = left + Self.barWidth / 2
        let (least, median, greatest) = (ratios.first ?? 0, ratios.median, ratios.last ?? 0)
        return [
            rectangle(left + 1, y(median), Self.barWidth - 2, bottom - y(median), client.rawValue),
            line(center, y(least), center, y(greatest), "span"),
            // At the foot of the bar, where no line crosses it.
            text(center, bottom - 6, median.formatted(2), "middle", "value"),
        ]
    }

    private func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ style: String) -> String {
        """
        <rect class="\(style)" x="\(x.formatted(1))" y="\(y.formatted(1))" width="\(width.formatted(1))" \
        height="\(height.formatted(1))"/>
        """
    }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ style: String) -> String {
        """
        <line class="\(style)" x1="\(x1.formatted(1))" y1="\(y1.formatted(1))" x2="\(x2.formatted(1))" \
        y2="\(y2.formatted(1))"/>
        """
    }

    private func text(
        _ x: Double, _ y: Double, _ content: String, _ anchor: String, _ style: String = "text"
    ) -> String {
        """
        <text class="\(style)" x="\(x.formatted(1))" y="\(y.formatted(1))" text-anchor="\(anchor)">\(content)</text>
        """
    }

    private static let style = """
        <style>
        .page { fill: #ffffff } .text, .title { fill: #1d1d1f } .quiet { fill: #6e6e73 }
        .title { font-size: 15px; font-weight: 600 } .value { fill: #ffffff; font-size: 11px }
        .grid { stroke: #d2d2d7 } .bare { stroke: #1d1d1f; stroke-width: 1.5 } .span { stroke: #1d1d1f }
        .martlet { fill: #0066cc } .martletJSON { fill: #1a7f37 } .martletURLSession { fill: #a24a00 }
        @media (prefers-color-scheme: dark) {
        .page { fill: #1d1d1f } .text, .title { fill: #f5f5f7 } .quiet { fill: #a1a1a6 }
        .grid { stroke: #424245 } .bare, .span { stroke: #f5f5f7 }
        }
        </style>
        """
}
