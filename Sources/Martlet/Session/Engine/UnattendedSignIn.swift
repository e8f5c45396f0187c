/// A sign-in that no user has asked for at this moment: ``NetworkConfig/automaticSignIn``, or the registration of a guest.
/// Its own calls wait for no session, and it gives way to a user who signs in after it has begun.
final class UnattendedSignIn: Sendable {
    /// The managers that the current task signs in to, each with the sign-in that the task is part of.
    @TaskLocal static var current: [ObjectIdentifier: UnattendedSignIn] = [:]

    /// The epoch at its start, or after its own latest sign-in.
    private let epoch: Locked<Int>
    private let followsExpiry: Bool

    /// - Parameter owner: The sign-in state at its start.
    init(since owner: CallOwner) {
        epoch = Locked(owner.epoch)
        followsExpiry = owner.signInState == .expired
    }

    /// The epoch that a sign-in, which is part of this one, must find. `nil` if no user is signed in: it replaces none,
    /// even if one has signed in and out since. A user whose session has expired may sign in again, and is not replaced.
    func start(in machine: borrowing SessionStateMachine) -> Int? {
        guard machine.session == nil else { return epoch.withLock { $0 } }
        // An expiry begins no epoch, so none fits if the user has signed in and expired since.
        return machine.callOwner.signInState == .expired && !followsExpiry ? -1 : nil
    }

    /// A sign-in that is part of this one has started a session, which the next one may replace.
    func hasSignedIn(in machine: borrowing SessionStateMachine) {
        let now = machine.epoch
        epoch.withLock { $0 = now }
    }

    /// Runs a sign-in, or the part of one that is under way.
    /// - Parameter owner: The sign-in state in which it begins; `nil` for the current one.
    static func run<Outcome: Sendable>(
        for tokens: TokenManager?, since owner: CallOwner? = nil, _ signIn: @Sendable () async -> Outcome
    ) async -> Outcome {
        guard let tokens, tokens.unattendedSignIn == nil else { return await signIn() }
        let started = UnattendedSignIn(since: owner ?? tokens.givingWayOwner)
        return await $current.withValue(current.merging([ObjectIdentifier(tokens): started]) { $1 }) { await signIn() }
    }
}
