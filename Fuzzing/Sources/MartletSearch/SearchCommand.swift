import ArgumentParser

@testable import MartletTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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

    @Flag(
        help: "Search one depth after the other, and stop at the first violation. With --worlds: stop there, too.")
    var first = false

    @Option(help: "With --first: how long to search, in seconds.")
    var seconds = 60

    @Option(help: "The number of processes that search at the same time, one setting each.")
    var processes = ProcessInfo.processInfo.activeProcessorCount

    @Option(help: "Play this number of random worlds in each setting of processes with one store, and do not search.")
    var worlds: Int?

    @Option(help: "With --worlds: the seed of the first one.")
    var firstSeed: UInt64 = 1

    func validate() throws {
        for (name, number, least) in [
            ("depth", depth, 1), ("disturbances", disturbances, 0), ("callers", callers, 1), ("sessions", sessions, 1),
            ("seconds", seconds, 1), ("processes", processes, 1), ("worlds", worlds ?? 1, 1),
        ] where number < least {
            throw ValidationError("--\(name) must be at least \(least).")
        }
        if worlds != nil, setting != nil {
            throw ValidationError("--setting is for a search, and --worlds plays all of its own settings.")
        }
        if let setting, !Setting.all.indices.contains(setting) {
            throw ValidationError("--setting must be a number from 0 to \(Setting.all.count - 1).")
        }
    }

    func run() throws {
        if let worlds {
            if OrderRun(first: firstSeed, worlds: worlds, stopsAtFirst: first).run() { throw ExitCode.failure }
            return
        }
        if setting == nil, !first, processes > 1 { return try Workers(searching: self).run() }
        let settings = setting.map { [Setting.all[$0]] } ?? Setting.all
        // The shortest way to a violation, whatever the setting.
        let depths = first ? Array(1...depth) : [depth]
        let end: ContinuousClock.Instant? = first ? ContinuousClock.now + .seconds(seconds) : nil
        let hasViolations = try StepScheduler.run { scheduler in
            depths.lazy.prefix { _ in end.map { .now < $0 } ?? true }
                .contains { search(settings, to: $0, until: end, on: scheduler) }
        }
        if hasViolations { throw ExitCode.failure }
    }

    /// - Returns: Whether there are violations.
    private func search(
        _ settings: [Setting], to depth: Int, until end: ContinuousClock.Instant?, on scheduler: StepScheduler
    ) -> Bool {
        let start = ContinuousClock.now
        let bounds = Bounds(waiting: callers, families: sessions)
        var total = Total()
        for setting in settings {
            if let end, end < .now { break }
            let search = Search(
                setting, depth: depth, disturbances: disturbances, bounds: bounds, until: end, on: scheduler)
            search.run()
            for finding in search.findings { print(finding.story(on: scheduler) + "\n") }
            total.add(search.total)
            print("\(setting.words): \(search.total) (worlds by depth: \(search.worlds))")
            if first, total.violations > 0 { break }
        }
        print(words(of: total, to: depth, after: ContinuousClock.now - start))
        return total.violations > 0
    }

    func words(of total: Total, to depth: Int, after time: Duration) -> String {
        "\(total) to depth \(depth) with \(disturbances) disturbances in \(time.components.seconds) s, "
            + "\(total.violations) violations"
    }
}
