/// What becomes of a call that requires somebody to be signed in while nobody is.
///
/// Without a policy it fails with ``NetworkError/signInRequired(_:)``. With one, a guest is signed in first: once, however
/// many calls need it at the same time. Calls that go out signed in or not (``AuthenticationRequirement/ifSignedIn``) do
/// not ask for a guest.
///
/// ```swift
/// var config = NetworkConfig()
/// config.guestPolicy = .signIn { client in
///     try await GuestAuthService(client).register(name: "Guest")
/// }
/// ```
///
/// A session that the server has ended (``SessionState/expired(_:)``) is not replaced by a guest's: the app decides.
public struct GuestPolicy: Sendable {
    let signIn: @Sendable (NetworkClient) async throws -> Void

    /// Signs a guest in when a call needs one.
    /// - Parameter signIn: Starts a session over the client, by ``NetworkClient/signIn(_:as:monitor:account:)`` or
    ///   ``GuestAuthService/register(name:picture:monitor:)``. What it throws is what the calls fail with that waited for it; the
    ///   next call tries again.
    public static func signIn<Result>(
        _ signIn: @escaping @Sendable (NetworkClient) async throws -> Result
    ) -> GuestPolicy {
        GuestPolicy { _ = try await signIn($0) }
    }
}

/// Signs a guest in for all calls that need one.
struct GuestGate: Sendable {
    private let policy: GuestPolicy
    private let tokens: TokenManager
    /// The managers for which the task signs a guest in: what does that must not wait for it.
    @TaskLocal private static var entered: Set<ObjectIdentifier> = []

    init(_ policy: GuestPolicy, tokens: TokenManager) {
        self.policy = policy
        self.tokens = tokens
    }

    /// Returns once somebody is signed in, or there is another reason than that for a call to fail.
    func pass(_ client: NetworkClient, for call: FailedCall) async throws(NetworkError) {
        guard !Self.entered.contains(ObjectIdentifier(tokens)), await nobodyIsSignedIn else { return }
        let outcome = await tokens.guests.policy.run {
            // Somebody may have signed in since this was asked for.
            guard await nobodyIsSignedIn else { return .success(()) }
            return await Self.entering(for: tokens) {
                do {
                    return .success(try await policy.signIn(client))
                } catch {
                    return .failure(AttemptRunner.wrap(error, call: call))
                }
            }
        }
        guard let outcome else { throw .cancelled(call) }
        // A user who has signed in meanwhile is as good as a guest.
        if case .failure(let error) = outcome, await nobodyIsSignedIn { throw error }
    }

    /// Signs somebody in: calls that are part of it do not wait for it.
    static func entering<Outcome: Sendable>(
        for tokens: TokenManager?, _ signIn: @Sendable () async -> Outcome
    ) async -> Outcome {
        guard let tokens else { return await signIn() }
        return await $entered.withValue(entered.union([ObjectIdentifier(tokens)])) { await signIn() }
    }

    private var nobodyIsSignedIn: Bool {
        get async {
            guard tokens.freshCredential() == nil, !tokens.isRefreshingHere else { return false }
            if case .failure(.signedOut) = await tokens.credential() { return true }
            return false
        }
    }
}
