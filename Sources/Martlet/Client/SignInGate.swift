/// Holds back the calls that require a session until ``NetworkConfig/automaticSignIn`` has started one.
///
/// Only a call that was made while no user was signed in is held: it belongs to no session yet. It gets the session
/// that is current when the sign-in ends, and keeps it. That is the session that ``NetworkConfig/automaticSignIn`` has
/// started, or the session of a user who signed in by other means while it ran. A call that belongs to a session,
/// including one that the store contained before it was read, never gets another: it fails with
/// ``NetworkError/sessionChanged(_:)``.
struct SignInGate: Sendable {
    private let signIn: @Sendable (NetworkClient) async throws -> Void
    private let tokens: TokenManager

    /// The sign-in under way. It continues if the calls that asked for it are cancelled: the next calls need the same
    /// session, and the server may have created it already.
    private struct Flight: Sendable {
        let flight: SingleFlight<Outcome>
    }

    private struct Outcome: Sendable {
        /// The epoch in which the sign-in began.
        let epoch: Int
        let result: Result<CallOwner, NetworkError>
    }

    init(_ signIn: @escaping @Sendable (NetworkClient) async throws -> Void, tokens: TokenManager) {
        self.signIn = signIn
        self.tokens = tokens
    }

    /// Returns when the call may continue.
    /// - Parameter owner: The owner of the call.
    /// - Returns: The owner with which the call continues. If no session is current by then, the pipeline reports that.
    func pass(
        _ client: NetworkClient, _ owner: CallOwner, for endpoint: any Endpoint
    ) async throws(NetworkError) -> CallOwner {
        // Calls that are part of a sign-in must not wait for it.
        guard tokens.unattendedSignIn == nil, !tokens.isRefreshingHere else { return owner }
        let owner = try await known(owner, for: endpoint)
        guard owner.signInState == .signedOut else { return owner }
        let context = SessionContext()
        while true {
            guard let outcome = await flight.run({ await context.run { await run(client, for: endpoint) } }) else {
                throw .cancelled(CallDescription(unsent: endpoint))
            }
            switch outcome.result {
            case .success(let signedIn):
                // The user may have signed out since. A call that was made after that signs in again.
                guard signedIn.signInState == .signedOut, outcome.epoch < owner.epoch,
                    owner.epoch == tokens.currentOwner.epoch
                else { return signedIn }
            case .failure(let error):
                let current = tokens.currentOwner
                // If the user has signed in since, the failure does not matter.
                guard current.signInState == .signedOut else { return current }
                // A sign-in that began before the last sign-out says nothing about a call that was made after it.
                guard outcome.epoch < owner.epoch, owner.epoch == current.epoch else { throw error }
            }
        }
    }

    /// Shared by all clients of the manager, so that they sign in once.
    private var flight: SingleFlight<Outcome> {
        tokens.attachments.value { Flight(flight: SingleFlight(time: tokens.time, outlivesCallers: true)) }.flight
    }

    /// The number of calls that wait for the sign-in.
    var waiting: Int { flight.waiting }

    private func run(_ client: NetworkClient, for endpoint: any Endpoint) async -> Outcome {
        // Another sign-in may have finished since the call was made, or is about to.
        await tokens.startedSession()
        let current = tokens.currentOwner
        guard current.signInState == .signedOut else { return Outcome(epoch: current.epoch, result: .success(current)) }
        let result = await UnattendedSignIn.run(for: tokens, since: current) {
            do {
                try await signIn(client)
                return Result<CallOwner, NetworkError>.success(tokens.currentOwner)
            } catch {
                return .failure(ExchangeRunner.wrap(error, call: CallDescription(unsent: endpoint)))
            }
        }
        return Outcome(epoch: current.epoch, result: result)
    }

    /// Waits until the store has been read. A call that was made before must not fail because it lacks a session that
    /// the automatic sign-in would start.
    private func known(_ owner: CallOwner, for endpoint: any Endpoint) async throws(NetworkError) -> CallOwner {
        do {
            return try await tokens.known(owner)
        } catch {
            throw NetworkError(error, for: CallDescription(unsent: endpoint))
        }
    }
}
