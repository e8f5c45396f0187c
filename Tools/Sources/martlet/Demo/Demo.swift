internal import Martlet
internal import ReferenceBackend

/// Runs the demo's steps in order, with Martlet's public API. The backend's controls cause the faults.
struct Demo {
    let setup: DemoSetup
    let recorder = Recorder()
    var report: Report
    /// The running app. A restart replaces it.
    var app: App
    private let console: Console

    init(_ setup: DemoSetup, console: Console) {
        self.setup = setup
        self.console = console
        report = Report(console)
        app = App(setup, watchedBy: recorder)
    }

    var controls: BackendControls { setup.server.controls }

    /// Runs all steps.
    /// - Returns: Whether every check passed.
    mutating func run() async -> Bool {
        console.line(
            console.paint(
                "Martlet: the life of a session, against a server that expires, rejects and revokes tokens", .title))
        report.note("The server runs in this process, at \(setup.server.baseURL). Each refresh token works once:")
        report.note("if one is used again, the server assumes that it was stolen and ends the session.")
        do {
            try await signInGuest()
            try await writeArticles()
            try await refreshEarly()
            let burst = try await burstOnInvalidatedToken()
            console.line()
            draw(burst)
            try await restartApp()
            try await upgradeGuest()
            try await revokeSession()
            try await signOut()
        } catch {
            report.abort(error)
        }
        console.line()
        console.line(console.paint("Timeline of the whole demo", .title))
        draw(.zero...recorder.elapsed)
        report.close()
        return report.passed
    }

    private func draw(_ period: ClosedRange<Duration>, columns: Int = 60) {
        let timeline = recorder.timeline(period)
        let names = timeline.lanes.map(\.name.count).max() ?? 0
        let margin = "   " + String(repeating: " ", count: names)
        for row in timeline.rows(columns: columns) {
            let name = String(repeating: " ", count: names - row.name.count) + row.name
            let style: Console.Style = row.name == "401s" ? .bad : .accent
            console.line("   \(name) │\(console.paint(row.plot, style))│ \(row.count)")
        }
        let axis = timeline.axis(columns: columns)
        console.line(console.paint("\(margin) └\(axis.ticks)┘", .note))
        console.line(console.paint("\(margin)  \(axis.labels)", .note))
    }
}
