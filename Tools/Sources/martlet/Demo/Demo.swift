internal import Martlet
internal import ReferenceBackend

/// The story, told through Martlet's public API. The server's controls play the villain.
struct Demo {
    let props: Props
    let recorder = Recorder()
    var report: Report
    /// The app as it runs; a restart puts another one in its place.
    var app: App
    private let console: Console

    init(_ props: Props, console: Console) {
        self.props = props
        self.console = console
        report = Report(console)
        app = App(props, watchedBy: recorder)
    }

    var controls: BackendControls { props.server.controls }

    /// Plays all of it.
    /// - Returns: Whether every figure was what it should be.
    mutating func play() async -> Bool {
        console.line(
            console.paint("Martlet: the life of a session, against a server that does not make it easy", .title))
        report.note("The server runs in this process, at \(props.server.baseURL). Each of its refresh tokens")
        report.note("works once: one that comes back counts as stolen, and the session ends.")
        do {
            try await guestSignsIn()
            try await articlesAreWritten()
            try await tokenIsRenewedEarly()
            let burst = try await fiftyCallsMeetADeadToken()
            console.line()
            draw(burst)
            try await appIsRestarted()
            try await guestBecomesAccount()
            try await serverEndsTheSession()
            try await userSignsOut()
        } catch {
            report.brokeOff(error)
        }
        console.line()
        console.line(console.paint("The whole of it, drawn to scale", .title))
        draw(.zero...recorder.elapsed)
        report.close()
        return report.isRight
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
