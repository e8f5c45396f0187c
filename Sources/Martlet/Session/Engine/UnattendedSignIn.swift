/// A sign-in that no user has requested: ``NetworkConfig/automaticSignIn``, or the registration of a guest. Its own
/// calls wait for no session, and it gives way to a user who signs in after it began.
final class UnattendedSignIn: Sendable {
    /// The managers that the current task signs in to, each with the sign-in that the task is part of.
    @TaskLocal static var current: [ObjectIdentifier: UnattendedSignIn] = [:]

    /// Whether the current task is part of a sign-in to any manager.
    static var isUnderWay: Bool { current.values.contains { !$0.isOver } }

    /// The epoch (``TokenManager/epoch``) at its start, or after its own latest sign-in or sign-out.
    private let epoch: Locked<Int>
    private let followsExpiry: Bool
    private let hasEnded = Locked(false)

    /// Whether the sign-in has ended. A task that outlives it inherits the task-local value, but makes calls like any
    /// other.
    var isOver: Bool { hasEnded.withLock { $0 } }

    /// - Parameter owner: The sign-in state at its start.
    init(since owner: CallOwner) {
        epoch = Locked(owner.epoch)
        followsExpiry = owner.signInState == .expired
    }

    /// The epoch in which a step of this sign-in may start a session; `nil` for any epoch. If no user is signed in, any
    /// will do, because no session is replaced. There are two exceptions: a user has signed in or out since the start,
    /// or a session has expired since. The user may sign in again, and must not be replaced.
    func permittedEpoch(in machine: borrowing SessionStateMachine) -> Int? {
        let epoch = epoch.withLock { $0 }
        guard machine.session == nil, machine.attendedEpoch <= epoch else { return epoch }
        // -1 matches no epoch: an expiry starts no new one, so comparing epochs would not detect it.
        return machine.callOwner.signInState == .expired && !followsExpiry ? -1 : nil
    }

    /// Whether a user has signed in or out since this sign-in began, so that no step of it may change the session.
    func isSuperseded(in machine: borrowing SessionStateMachine) -> Bool {
        permittedEpoch(in: machine).map { $0 != machine.epoch } ?? false
    }

    /// A step of this sign-in has started a session, which the next step may replace, or has ended one.
    func recordSessionChange(in machine: borrowing SessionStateMachine) {
        let now = machine.epoch
        epoch.withLock { $0 = now }
    }

    /// Runs an unattended sign-in, or a step of the one under way.
    /// - Parameter owner: The sign-in state in which the sign-in begins.
    static func run<Outcome: Sendable>(
        for tokens: TokenManager?, since owner: CallOwner, _ signIn: @Sendable () async -> Outcome
    ) async -> Outcome {
        guard let tokens, tokens.unattendedSignIn == nil else { return await signIn() }
        let started = UnattendedSignIn(since: owner)
        defer { started.hasEnded.withLock { $0 = true } }
        return await $current.withValue(current.merging([ObjectIdentifier(tokens): started]) { $1 }) { await signIn() }
    }
}
