import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore

/// What happens to a request between the server and its handler: counting, gates, faults, and the fields and the log
/// line that every answer has.
struct RequestPipeline: Sendable {
    let core: BackendCore
    let routes: RouteTable

    /// Ends a request without an answer.
    struct ConnectionDropped: Error {}

    func respond(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        let resolved = ResolvedRequest(request, routes: routes, channel: channel, now: core.state.now)
        if request.headers[.expect]?.lowercased() == "100-continue" {
            try await writer.writeInformationalHead(HTTPResponse(status: .continue))
        }
        let reply: Reply
        do {
            reply = try await answer(resolved)
        } catch {
            log(resolved, status: nil)
            connection(of: channel).closeAbruptly()
            throw error
        }
        if resolved.isCounted {
            core.state.count { $0.answered(reply.status, route: resolved.routeName) }
        }
        let (head, body) = finished(reply, for: resolved.scope)
        do {
            try await writer.write(response: head, body: body)
        } catch {
            // Half an answer cannot be taken back; only closing tells the client that it is not whole.
            connection(of: channel).closeAbruptly()
            throw error
        }
        if resolved.isCounted {
            core.controls.answers.record(method: resolved.scope.method, path: resolved.scope.path)
            tell(.answered(status: reply.status), resolved)
        }
        log(resolved, status: reply.status)
    }

    private func answer(_ resolved: ResolvedRequest) async throws -> Reply {
        guard resolved.isCounted else { return try await handle(resolved) }
        let (method, path) = (resolved.scope.method, resolved.scope.path)
        countArrival(resolved)
        let gates = core.controls.gateKeeper
        try await gates.pass(.arrival, method: method, path: path)
        let reply: Reply
        if let fault = core.controls.faultQueue.take(method: method, path: path) {
            core.state.count { $0.faultsApplied += 1 }
            reply = try await apply(fault, to: resolved)
        } else {
            reply = try await handle(resolved)
        }
        tell(.handled(status: reply.status), resolved)
        try await gates.pass(.answer, method: method, path: path)
        return reply
    }

    private func countArrival(_ resolved: ResolvedRequest) {
        let (method, path) = (resolved.scope.method, resolved.scope.path)
        let isRefresh = core.rules.refreshEndpoint.matches(method: method, path: path)
        core.state.count { counters in
            counters.requests[resolved.routeName, default: 0] += 1
            if isRefresh { counters.refreshesCalled += 1 }
        }
        core.controls.arrivals.record(method: method, path: path)
        tell(.arrived, resolved)
    }

    private func tell(_ stage: RequestMoment.Stage, _ resolved: ResolvedRequest) {
        guard let onRequest = core.configuration.onRequest else { return }
        let scope = resolved.scope
        onRequest(
            RequestMoment(
                id: scope.id, method: scope.method, path: scope.path, userAgent: scope.headers[.userAgent], stage: stage
            ))
    }

    private func apply(_ fault: FaultRule, to resolved: ResolvedRequest) async throws -> Reply {
        if fault.delay > .zero { try await Task.sleep(for: fault.delay) }
        if fault.readsBody, fault.action != .proceed { try await resolved.scope.drainBody() }
        switch fault.action {
        case .proceed:
            return try await handle(resolved)
        case .answer(let answer):
            return reply(answer, scope: resolved.scope)
        case .commitThenAnswer(let answer):
            _ = try await handle(resolved)
            return reply(answer, scope: resolved.scope)
        case .dropConnection:
            throw ConnectionDropped()
        case .commitThenDropConnection:
            _ = try await handle(resolved)
            throw ConnectionDropped()
        case .hang:
            let clientLeft = await ClientPresence.signal(of: resolved.scope.channel)
            await core.controls.hangs.wait(until: clientLeft)
            throw ConnectionDropped()
        }
    }

    private func reply(_ answer: FaultRule.Answer, scope: RequestScope) -> Reply {
        var reply: Reply
        if let body = answer.body {
            reply =
                body.isEmpty
                ? .empty(answer.status) : .text(body, status: answer.status, contentType: answer.contentType)
        } else if answer.status >= 400 {
            let error = APIError(status: answer.status, code: "INJECTED_FAULT", message: "A fault was asked for.")
            reply = core.rules.failure(error, scope: scope)
        } else {
            reply = .empty(answer.status)
        }
        for (name, value) in answer.headers {
            if let field = HTTPField.Name(name) { reply.headers[field] = value }
        }
        return reply
    }

    private func handle(_ resolved: ResolvedRequest) async throws -> Reply {
        do {
            return try await resolved.run()
        } catch let error as APIError {
            return resolved.isManagement
                ? .json(["message": .string(error.message)], status: error.status)
                : core.rules.failure(error, scope: resolved.scope)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            if !resolved.scope.channel.isActive { throw error }
            // The type only: a description may quote what the client sent.
            core.logger.error("A handler failed.", metadata: ["error": "\(type(of: error))"])
            return core.rules.failure(.serverError, scope: resolved.scope)
        }
    }
}
