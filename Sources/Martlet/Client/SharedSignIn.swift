/// A sign-in that runs once for all concurrent callers, across all clients of a session.
package struct SharedSignIn<Value: Sendable>: Sendable {
    private struct Outcome: Sendable {
        /// The epoch in which the sign-in began.
        let epoch: Int
        let result: Result<Value, NetworkError>
    }

    private let flight: SingleFlight<Outcome>
    private let tokens: TokenManager?

    /// Creates a sign-in to the session of a client. Sign-ins of one session that return the same type share a single
    /// run.
    package init(_ client: NetworkClient) {
        let makeFlight = { [time = client.pipeline.time] in
            SingleFlight<Outcome>(time: time, outlivesCallers: false, lastCallerAwaitsResult: true)
        }
        tokens = client.tokens
        flight = client.tokens?.attachments.value(makeFlight) ?? makeFlight()
    }

    /// Starts the sign-in, or waits for the one under way. Its own calls do not wait for a session.
    /// - Returns: `nil` if the caller was cancelled while others wait. The sign-in is cancelled with its last caller,
    ///   which still learns whether the sign-in has taken effect.
    package func run(
        _ signIn: @escaping @Sendable () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value? {
        let (start, context) = (epoch, SessionContext())
        while true {
            let outcome = await flight.run { await context.run { await attempt(signIn) } }
            guard let outcome else { return nil }
            // The failure of a sign-in that began before the last sign-out does not concern a caller that asked after
            // the sign-out: try again.
            if case .failure = outcome.result, outcome.epoch < start, epoch == start { continue }
            return try outcome.result.get()
        }
    }

    private func attempt(_ signIn: @Sendable () async throws(NetworkError) -> Value) async -> Outcome {
        let epoch = epoch
        let result = await UnattendedSignIn.run(for: tokens, since: tokens?.automaticSignInOwner ?? .unbound) {
            do throws(NetworkError) {
                return Result<Value, NetworkError>.success(try await signIn())
            } catch {
                return .failure(error)
            }
        }
        return Outcome(epoch: epoch, result: result)
    }

    private var epoch: Int { tokens?.epoch ?? 0 }
}
