/// A sign-in that no user has asked for at this moment: ``NetworkConfig/automaticSignIn``, or the registration of a guest.
/// Its own calls wait for no session, and it gives way to a user who signs in after it has begun.
final class UnattendedSignIn: Sendable {
    /// The managers that the current task signs in to, each with the sign-in that the task is part of.
    @TaskLocal static var current: [ObjectIdentifier: UnattendedSignIn] = [:]

    /// The epoch in which it has begun, or the one that its own last sign-in has begun.
    private let epoch: Locked<Int>

    init(since epoch: Int) {
        self.epoch = Locked(epoch)
    }

    /// The epoch that a sign-in, which is part of this one, must find. `nil` if no user is signed in: it replaces none,
    /// even if one has signed in and out since.
    func start(in machine: borrowing SessionStateMachine) -> Int? {
        machine.session == nil ? nil : epoch.withLock { $0 }
    }

    /// A sign-in that is part of this one has started a session, which the next one may replace.
    func hasSignedIn(in machine: borrowing SessionStateMachine) {
        let now = machine.epoch
        epoch.withLock { $0 = now }
    }

    /// Runs a sign-in, or the part of one that is under way.
    static func run<Outcome: Sendable>(
        for tokens: TokenManager?, _ signIn: @Sendable () async -> Outcome
    ) async -> Outcome {
        guard let tokens, tokens.unattendedSignIn == nil else { return await signIn() }
        let started = UnattendedSignIn(since: tokens.givingWayOwner.epoch)
        return await $current.withValue(current.merging([ObjectIdentifier(tokens): started]) { $1 }) { await signIn() }
    }
}
