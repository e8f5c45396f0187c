/// Holds back the calls that require a session until ``NetworkConfig/automaticSignIn`` has started one.
struct SignInGate: Sendable {
    private let signIn: @Sendable (NetworkClient) async throws -> Void
    private let tokens: TokenManager
    /// The managers that the current task is signing in to. Calls that are part of a sign-in must not wait for it.
    @TaskLocal private static var entered: Set<ObjectIdentifier> = []

    /// The sign-in under way. It continues if the calls that asked for it are cancelled: the next calls need the same
    /// session, and the server may have created it already.
    private struct Flight: Sendable {
        let flight: SingleFlight<Result<Void, NetworkError>>
    }

    init(_ signIn: @escaping @Sendable (NetworkClient) async throws -> Void, tokens: TokenManager) {
        self.signIn = signIn
        self.tokens = tokens
    }

    /// Returns if the user is signed in, or if the session is in another state that the pipeline will report.
    func pass(_ client: NetworkClient, for endpoint: any Endpoint) async throws(NetworkError) {
        guard !Self.entered.contains(ObjectIdentifier(tokens)), await isSignedOut else { return }
        // Shared by all clients of the manager, so that they sign in once.
        let shared = tokens.attachments.value {
            Flight(flight: SingleFlight(time: tokens.time, outlivesCallers: true))
        }
        let outcome = await shared.flight.run {
            // Another sign-in may have finished since the check above.
            guard await isSignedOut else { return .success(()) }
            return await Self.entering(for: tokens) {
                do {
                    return .success(try await signIn(client))
                } catch {
                    return .failure(AttemptRunner.wrap(error, call: CallDescription(unsent: endpoint)))
                }
            }
        }
        guard let outcome else { throw .cancelled(CallDescription(unsent: endpoint)) }
        // If the user has signed in meanwhile, the failure does not matter.
        if case .failure(let error) = outcome, await isSignedOut { throw error }
    }

    /// Runs a sign-in whose own calls do not wait at the gate.
    static func entering<Outcome: Sendable>(
        for tokens: TokenManager?, _ signIn: @Sendable () async -> Outcome
    ) async -> Outcome {
        guard let tokens else { return await signIn() }
        return await $entered.withValue(entered.union([ObjectIdentifier(tokens)])) { await signIn() }
    }

    /// Whether the current task is part of a sign-in for which calls may wait.
    static var isSigningIn: Bool { !entered.isEmpty }

    private var isSignedOut: Bool {
        get async {
            guard tokens.freshCredential() == nil, !tokens.isRefreshingHere else { return false }
            if case .failure(.signedOut) = await tokens.credential() { return true }
            return false
        }
    }
}
