internal import HTTPTypes

extension CallPipeline {
    /// Lets the interceptors change the request of an attempt, or answer it themselves.
    ///
    /// If the token expires while they run, the request gets another one and is adapted again, because an interceptor
    /// may have signed its header fields. If that takes too long again, only the token is replaced.
    /// - Parameter unsigned: The request without its token.
    /// - Returns: The origin that the request goes to, and an interceptor's response; `nil` if the request must be
    ///   sent.
    /// - Throws: An error if the session has ended while an interceptor waited, or if the token has expired and could
    ///   not be refreshed.
    func intercept(
        _ request: inout HTTPRequest, from unsigned: HTTPRequest, _ call: inout CallState
    ) async throws -> (origin: Origin, answer: ServerResponse?) {
        var mayAdaptAgain = call.body?.isReplayable ?? true
        while true {
            let signed = request
            let result = try await runHooks(on: &request, from: unsigned, &call)
            guard let authorizer, result.answer == nil,
                authorizer.needsNewToken(request, signedAs: signed, for: call)
            else { return result }
            try await authorizer.renewToken(of: &call)
            guard mayAdaptAgain else {
                try authorizer.replaceToken(on: &request, signedAs: signed, for: &call)
                return result
            }
            mayAdaptAgain = false
            call.context.outgoing = call.sources?.preparedBody
            request = unsigned
            authorizer.attachToken(to: &request, for: &call)
        }
    }

    private func runHooks(
        on request: inout HTTPRequest, from unsigned: HTTPRequest, _ call: inout CallState
    ) async throws -> (origin: Origin, answer: ServerResponse?) {
        try await slots.runHook {
            let recipient = try await adapt(&request, from: unsigned, &call)
            try authorizer?.checkSession(of: call.authorization)
            let origin = try origin(of: &request, adaptedFrom: &call, recipient)
            let body = call.context.outgoing
            for interceptor in config.interceptors {
                guard let answer = try await interceptor.respond(to: request, for: &call.context) else { continue }
                try authorizer?.checkSession(of: call.authorization)
                return (origin, answer)
            }
            call.context.outgoing = body
            try authorizer?.checkSession(of: call.authorization)
            return (origin, nil)
        }
    }

    /// Lets the interceptors validate a response.
    func validate(_ response: ServerResponse, _ call: inout CallState) async throws {
        try await slots.runHook {
            for interceptor in config.interceptors { try await interceptor.validate(response, for: &call.context) }
        }
    }

    /// The delay before the next attempt.
    /// - Throws: The failure if there is no further attempt.
    func delayBeforeRetry(
        of call: inout CallState, after failure: NetworkError
    ) async throws -> Duration {
        guard !failure.isCancelled else { throw failure }
        // A transport may have read from a single-use body, so that it could not be sent after a wait.
        let mayWait = failure.isOffline && call.body?.isReplayable ?? true
        if mayWait, try await waitForConnectivity(&call) { return .zero }
        // The time for waiting, which the app has set, is over.
        if mayWait, call.connectivityWaits > 0 { throw failure }
        if let authorizer, try await authorizer.recover(&call, from: failure) { return .zero }
        for (index, interceptor) in interceptors.enumerated() {
            let before = RequestSnapshot(of: call)
            switch await interceptor.retry(call.request, for: &call.context, dueTo: failure) {
            case .noOpinion:
                call.context.outgoing = before.body
                continue
            case .fail(let error): throw error
            case .retry:
                try adoptRetry(before, by: index, &call)
                return .zero
            case .retryAfter(let wait):
                try adoptRetry(before, by: index, &call)
                return wait
            case .retryWith(let request, let wait):
                call.request = request
                try adoptRetry(before, by: index, &call)
                return wait
            }
        }
        throw failure
    }

    private func adoptRetry(_ before: RequestSnapshot, by index: Int, _ call: inout CallState) throws {
        keepChanges(since: before, by: index, &call)
        try applyChanges(since: before, &call)
    }

    func process(
        _ response: ServerResponse, _ call: inout CallState, _ outgoing: OutgoingCall
    ) async throws -> ServerResponse {
        do {
            // If the body is read after the call, it still holds the slot while the interceptors run.
            guard call.receiver?.outlivesCall == true else { return try await processed(response, &call) }
            return try await slots.runHook { try await processed(response, &call) }
        } catch {
            outgoing.onUnusedResponse?(response)
            throw error
        }
    }

    private func processed(_ response: ServerResponse, _ call: inout CallState) async throws -> ServerResponse {
        var response = response
        for interceptor in config.interceptors {
            response = try await interceptor.process(response, for: &call.context)
        }
        return response
    }
}
