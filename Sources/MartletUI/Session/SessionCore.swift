internal import Martlet

/// What both faces of a session do: ``SessionViewModel`` and ``SessionModel`` show its status and pass on what they are
/// told.
@MainActor final class SessionCore {
    private(set) var status = SessionStatus() {
        didSet { if status != oldValue { changed?(status) } }
    }
    /// Is told of each new status.
    var changed: (@MainActor (SessionStatus) -> Void)?

    private let source: SessionSource
    private let patience: Duration
    private let time: any TimeSource

    init(_ source: SessionSource, patience: Duration, time: any TimeSource) {
        self.source = source
        self.patience = patience
        self.time = time
    }

    func run() async {
        async let started: Void = restore()
        for await _ in source.changes() { follow() }
        await started
    }

    func retry() -> Task<Void, Never> {
        Task { [source] in
            await source.restore()
            follow()
        }
    }

    func signOut() -> Task<Void, Never> {
        Task { [source] in
            await source.signOut()
            follow()
        }
    }

    /// What a stream says may be older than what is known by now.
    private func follow() {
        status.follow(source.state())
    }

    private func restore() async {
        async let _: Void = losePatience()
        await source.restore()
        // Who is not looked at any more has learned nothing from it.
        guard !Task.isCancelled else { return }
        start()
    }

    private func losePatience() async {
        guard (try? await time.sleep(until: time.uptime + patience)) != nil else { return }
        start()
    }

    private func start() {
        var status = status
        status.follow(source.state())
        status.start()
        self.status = status
    }
}
