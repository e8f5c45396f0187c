internal import HTTPTypes

/// The GET and HEAD calls under way that identical calls may join.
final class JoinedCalls: Sendable {
    /// The properties that identical calls share.
    struct Key: Hashable {
        let owner: ResponseOwner
        let authentication: AuthenticationRequirement
        let allowsRefresh: Bool
        let endpoint: ObjectIdentifier
        /// The request with its cookies, without the token.
        let request: HTTPRequest
        let statuses: StatusCodes
        let timeout: Duration?
        let connectivityTimeout: Duration?
        /// The number of writing calls that had ended when the call was made. A call made after a write must not get a
        /// response from before it.
        var writes = 0
    }

    typealias Outcome = Result<CompletedCall, NetworkError>

    /// The calls with one key. A request whose last caller was cancelled may still be ending when the next caller
    /// starts another one, so there can be two.
    private struct Entry {
        let flight: SingleFlight<Outcome>
        var callers = 0
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var writes = 0
        var joins = 0

        mutating func leave(_ flight: SingleFlight<Outcome>, of key: Key) {
            guard entries[key]?.flight === flight else { return }
            entries[key]?.callers -= 1
            if entries[key]?.callers == 0 { entries[key] = nil }
        }
    }

    /// Whether the current task performs a call that others may have joined. Calls made by that task join no others,
    /// because they could wait for themselves.
    @TaskLocal static var isInside = false

    private let state = Locked(State())
    private let time: any TimeSource

    init(time: any TimeSource) {
        self.time = time
    }

    /// Performs a call, or waits for an identical one that is under way.
    /// - Parameter perform: Performs the call. Its parameter keeps further callers from joining it.
    /// - Returns: `nil` if the caller was cancelled. The call itself is cancelled with its last caller.
    func run(
        _ key: Key, _ perform: @escaping @Sendable (_ close: @escaping @Sendable () -> Void) async -> Outcome
    ) async -> Outcome? {
        let (key, flight) = state.withLock { state in
            var key = key
            key.writes = state.writes
            var entry =
                state.entries[key]
                ?? Entry(flight: SingleFlight(time: time, outlivesCallers: false))
            entry.callers += 1
            state.entries[key] = entry
            return (key, entry.flight)
        }
        defer { state.withLock { $0.leave(flight, of: key) } }
        let joined = { @Sendable [self] in state.withLock { $0.joins += 1 } }
        let close = { @Sendable [self] in
            state.withLock { state in
                if state.entries[key]?.flight === flight { state.entries[key] = nil }
            }
        }
        return await flight.run(joined: joined) { await Self.$isInside.withValue(true) { await perform(close) } }
    }

    /// The number of callers that wait for a call.
    var waiting: Int { state.withLock { $0.entries.values.reduce(0) { $0 + $1.flight.waiting } } }

    /// The number of calls so far that have joined another one.
    var joins: Int { state.withLock { $0.joins } }

    /// Keeps later calls from joining those under way.
    func didWrite() {
        state.withLock { $0.writes += 1 }
    }
}

extension NetworkClient {
    /// Performs a call. A GET or HEAD may join an identical call under way. Any other call keeps later calls from
    /// joining those under way.
    @inline(never)
    func performJoined(
        _ call: OutgoingCall, in calls: JoinedCalls
    ) async throws(NetworkError) -> CompletedCall {
        let endpoint = call.endpoint
        guard endpoint.method.isGetOrHead else {
            defer { calls.didWrite() }
            return try await pipeline.perform(call)
        }
        guard mayJoin(call), let owner = call.start.responseOwner else { return try await pipeline.perform(call) }
        // The call starts in a task of its own, and the token may change before that.
        var call = call
        call.dropToken()
        let state = try pipeline.observing { () throws(NetworkError) in try pipeline.build(call, length: nil) }
        let cookies = pipeline.cookies(of: state)
        let key = JoinedCalls.Key(
            owner: owner, authentication: endpoint.authentication, allowsRefresh: endpoint.allowsRefresh,
            endpoint: ObjectIdentifier(type(of: endpoint)),
            request: cookies?.adding(to: state.request, at: state.context.origin) ?? state.request,
            statuses: endpoint.acceptableStatuses, timeout: endpoint.timeout,
            connectivityTimeout: endpoint.connectivityTimeout)
        // An endpoint may compute its fields, so reading them again could give a request that does not match the key.
        let outcome = await calls.run(key) { [pipeline, call] close in
            do throws(NetworkError) {
                let built = BuiltCall(state, cookieField: key.request.headerFields[.cookie], onOtherCookies: close)
                return .success(try await pipeline.perform(call, built: built))
            } catch {
                return .failure(error)
            }
        }
        guard let outcome else { throw .cancelled(state.context.call) }
        return try outcome.get()
    }

    private func mayJoin(_ call: OutgoingCall) -> Bool {
        // Interceptors may change a request, so identical requests may differ when they are sent.
        !pipeline.hasInterceptors && call.monitor == nil && call.receiver == nil && call.body == nil
            && !JoinedCalls.isInside && !UnattendedSignIn.isUnderWay && tokens?.isRefreshingHere != true
            && !pipeline.slots.isHeldByHook
    }
}
