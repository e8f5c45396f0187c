internal import Martlet

/// Restores and follows the session for a ``SessionRouting`` model, which shows its status.
@MainActor public final class SessionCore {
    private(set) var status = SessionStatus() {
        didSet { if status != oldValue { onChange?(status) } }
    }
    var onChange: (@MainActor (SessionStatus) -> Void)?

    private let source: SessionSource
    /// The longest time for which ``SessionRoute/loading`` is shown at launch.
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

    /// Reads the current state instead of the stream's element, which may be outdated by now.
    private func follow() {
        status.follow(source.state())
    }

    private func restore() async {
        async let _: Void = startAfterPatience()
        await source.restore()
        // A cancelled restore says nothing about the stored session.
        guard !Task.isCancelled else { return }
        start()
    }

    private func startAfterPatience() async {
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
