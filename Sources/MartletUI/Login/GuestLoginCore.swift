internal import Martlet
internal import MartletGuests
internal import MartletImages

/// Runs the registration and the sign-out for a ``GuestLogin``, which shows its state.
@MainActor public final class GuestLoginCore {
    private(set) var state = GuestLoginState() {
        didSet { onChange?(state) }
    }
    var onChange: (@MainActor (GuestLoginState) -> Void)?

    private let registration: GuestRegistration
    private let maximumNameLength: Int
    private var running: (number: Int, task: Task<Void, Never>)?
    private var following: Task<Void, Never>?

    init(_ registration: GuestRegistration, maximumNameLength: Int) {
        self.registration = registration
        self.maximumNameLength = maximumNameLength
        state.follow(registration.session.state())
        guard registration.session.canChange else { return }
        following = Task { [weak self, session = registration.session] in
            for await _ in session.changes() {
                guard let self else { return }
                follow()
            }
        }
    }

    deinit { following?.cancel() }

    func type(_ name: String) { state.type(name) }

    func choose(_ image: ImageSource?) { state.choose(image) }

    func discardUnreadableImage() { state.discardUnreadableImage() }

    func registerGuest() -> Task<Void, Never> {
        if let running { return running.task }
        guard let submission = state.begin(maximumNameLength: maximumNameLength) else { return Task {} }
        let task = Task { await register(submission) }
        running = (submission.number, task)
        return task
    }

    func cancelRegistration() {
        running?.task.cancel()
        running = nil
        state.cancel()
    }

    func logout() -> Task<Void, Never> {
        cancelRegistration()
        return Task {
            await registration.session.signOut()
            follow()
        }
    }

    func run() async {
        for await _ in registration.session.changes() { follow() }
    }

    private func follow() {
        var next = state
        next.follow(registration.session.state())
        if next != state { state = next }
    }

    private func register(_ submission: GuestLoginState.Submission) async {
        let monitor = TransferMonitor()
        async let progress: Void = follow(monitor, submission)
        let outcome: Result<Guest, NetworkError>
        do throws(NetworkError) {
            outcome = .success(try await registration.register(submission.name, submission.image, monitor))
        } catch {
            outcome = .failure(error)
        }
        // Deliver the last byte counts before the outcome, so that a progress bar ends full.
        monitor.finish()
        await progress
        // A cancelled registration must not clear the one that replaced it.
        if running?.number == submission.number { running = nil }
        // The session may have ended before this task continued: the new one, or an unsaved one that is withdrawn.
        let session = registration.session.canChange ? registration.session.state() : nil
        var next = state
        if let session { next.follow(session) }
        next.end(outcome, of: submission)
        if let session { next.follow(session) }
        state = next
    }

    private func follow(_ monitor: TransferMonitor, _ submission: GuestLoginState.Submission) async {
        for await event in monitor.events { state.advance(event, in: submission.number) }
    }
}
