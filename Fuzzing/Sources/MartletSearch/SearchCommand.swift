import ArgumentParser

@testable import MartletTesting

/// `martlet-search`: tries every sequence of events on the session engine, up to a depth.
@main
struct SearchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet-search",
        abstract: "Tries every sequence of events on the session engine, up to a depth, and checks its rules.",
        discussion: """
            The real token manager runs against a store, a lock, a server, a clock and other processes whose every \
            step is a choice of the search: it succeeds, fails, is late, or is lost. Worlds that look the same are \
            visited once.
            """)

    @Option(help: "The number of choices in a sequence.")
    var depth = 4

    @Option(help: "The greatest number of disturbances in a sequence: failures, other processes, restarts.")
    var disturbances = 1

    @Option(help: "The greatest number of callers that wait at the same time.")
    var callers = 2

    @Option(help: "The greatest number of sign-ins.")
    var sessions = 2

    @Option(help: "Search only the setting of this number.")
    var setting: Int?

    @Flag(help: "Stop at the first violation.")
    var first = false

    private static let settings = [
        Setting(), Setting(hasGrace: true), Setting(isShared: true), Setting(isShared: true, hasGrace: true),
        Setting(lifetime: nil), Setting(hasRefreshToken: false),
    ]

    func run() throws {
        let settings = setting.map { [Self.settings[$0]] } ?? Self.settings
        // The shortest way to a violation, whatever the setting.
        let depths = first ? Array(1...max(depth, 1)) : [depth]
        let hasViolations = try StepScheduler.run { scheduler in
            depths.contains { search(settings, to: $0, on: scheduler) }
        }
        if hasViolations { throw ExitCode.failure }
    }

    /// - Returns: Whether there are violations.
    private func search(_ settings: [Setting], to depth: Int, on scheduler: StepScheduler) -> Bool {
        let start = ContinuousClock.now
        let bounds = Bounds(waiting: callers, families: sessions)
        var (worlds, transitions, violations) = (0, 0, 0)
        for setting in settings {
            let search = Search(
                setting, depth: depth, disturbances: disturbances, bounds: bounds, stopsAtFirst: first, on: scheduler)
            search.run()
            for finding in search.findings { print(finding.story(on: scheduler) + "\n") }
            worlds += search.worlds.last ?? 0
            transitions += search.transitions
            violations += search.findings.filter { !Rule.open.contains($0.rule) }.count
            print(
                "\(setting.words): \(search.worlds.last ?? 0) worlds (by depth \(search.worlds)), "
                    + "\(search.transitions) transitions")
            if first, violations > 0 { break }
        }
        print(
            "\(worlds) worlds and \(transitions) transitions to depth \(depth) with \(disturbances) disturbances in "
                + "\((ContinuousClock.now - start).components.seconds) s, \(violations) violations")
        return violations > 0
    }
}
