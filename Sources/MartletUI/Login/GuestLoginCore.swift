internal import Martlet
internal import MartletImages

/// What both faces of a guest's login do: ``GuestLoginViewModel`` and ``GuestLoginModel`` show its state and pass on what
/// they are told.
@MainActor final class GuestLoginCore {
    private(set) var state = GuestLoginState() {
        didSet { changed?(state) }
    }
    /// Is told of each new state.
    var changed: (@MainActor (GuestLoginState) -> Void)?

    private let registration: GuestRegistration
    private let longestName: Int
    private var underWay: (number: Int, task: Task<Void, Never>)?

    init(_ registration: GuestRegistration, longestName: Int) {
        self.registration = registration
        self.longestName = longestName
    }

    func type(_ name: String) { state.type(name) }

    func choose(_ image: ImageSource?) { state.choose(image) }

    func imageFailed() { state.imageFailed() }

    func registerGuest() -> Task<Void, Never> {
        if let underWay { return underWay.task }
        guard let order = state.begin(longestName: longestName) else { return Task {} }
        let task = Task { await register(order) }
        underWay = (order.number, task)
        return task
    }

    func cancelRegistration() {
        underWay?.task.cancel()
        underWay = nil
        state.cancel()
    }

    func logout() -> Task<Void, Never> {
        cancelRegistration()
        return Task {
            await registration.session.signOut()
            state.follow(registration.session.state())
        }
    }

    func run() async {
        for await _ in registration.session.changes() { state.follow(registration.session.state()) }
    }

    private func register(_ order: GuestLoginState.Order) async {
        let monitor = TransferMonitor()
        async let progress: Void = follow(monitor, order)
        let outcome: Result<Guest, NetworkError>
        do throws(NetworkError) {
            outcome = .success(try await registration.register(order.name, order.image, monitor))
        } catch {
            outcome = .failure(error)
        }
        // The last counts are told before the outcome: a bar that ends does so at its end.
        monitor.finish()
        await progress
        // One that was given up has no say over the one after it.
        if underWay?.number == order.number { underWay = nil }
        state.end(outcome, of: order)
    }

    private func follow(_ monitor: TransferMonitor, _ order: GuestLoginState.Order) async {
        for await event in monitor.events { state.advance(event, in: order.number) }
    }
}
