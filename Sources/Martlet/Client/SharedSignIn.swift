/// A sign-in that runs once for all concurrent callers, across all clients of a session.
package struct SharedSignIn<Value: Sendable>: Sendable {
    private let flight: SingleFlight<Result<Value, NetworkError>>
    private let tokens: TokenManager?

    /// Creates a sign-in to the session of a client. Sign-ins of one session that return the same type share a single
    /// run.
    package init(_ client: NetworkClient) {
        let makeFlight = { [time = client.pipeline.time] in
            SingleFlight<Result<Value, NetworkError>>(time: time, outlivesCallers: false, tellsLastCaller: true)
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
        let outcome = await flight.run { [tokens] in
            await UnattendedSignIn.run(for: tokens) {
                do throws(NetworkError) {
                    return .success(try await signIn())
                } catch {
                    return .failure(error)
                }
            }
        }
        return try outcome?.get()
    }
}
