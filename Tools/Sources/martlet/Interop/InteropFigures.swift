internal import Foundation

/// The counts of the processes and of a server.
struct InteropFigures: Sendable {
    let title: String
    let lifetime: Int
    /// The counts of all processes together.
    var seen = InteropTally()
    /// Calls that the server accepted, and those whose token it rejected.
    var served = 0
    var rejected = 0
    /// Requests for a refresh, and those that the server refused.
    var refreshes = 0
    var refused = 0
    /// The times between one refresh and the next, in seconds.
    var lives: [Double] = []
    /// The rotation of the record at the end.
    var rotation = -1

    static let header = row(
        ["server", "calls", "failed", "replayed", "refreshes", "refused", "adoptions", "shortest life"])

    var row: String {
        let shortest = lives.min().map { String(format: "%.2f s", $0) } ?? "-"
        return Self.row(
            [
                title, seen.calls.grouped, failed.grouped, rejected.grouped, refreshes.grouped, refused.grouped,
                seen.adoptions.grouped, shortest,
            ])
    }

    /// The rules that the run has violated.
    var violations: [String] {
        var found = seen.failures.map { "\($0.value) times: \($0.key)" }.sorted()
        if served != seen.calls - failed { found.append("the server accepted \(served) calls") }
        if refused > 0 { found.append("the server refused \(refused) refreshes") }
        if refreshes == 0 { found.append("no token was refreshed") }
        if seen.refreshes != refreshes { found.append("the processes count \(seen.refreshes) refreshes") }
        if rotation != refreshes { found.append("the record has rotation \(rotation)") }
        let extra = lives.count { $0 < shortestLife }
        if extra > 0 { found.append("\(extra) refreshes came too early") }
        return found
    }

    private var failed: Int { seen.failures.values.reduce(0, +) }

    /// The shortest time between two refreshes, in seconds. A JWT's dates are whole seconds, so a token may live one
    /// second less than its lifetime. The leeway is a tenth of the lifetime, with a quarter of the leeway as jitter.
    private var shortestLife: Double { Double(lifetime) - 1 - 0.125 * Double(lifetime) }

    private static func row(_ cells: [String]) -> String {
        cells.enumerated().map { index, cell in
            let padding = String(repeating: " ", count: max(0, (index == 0 ? 22 : 11) - cell.count))
            return index == 0 ? cell + padding : padding + cell
        }.joined(separator: "  ")
    }

}
