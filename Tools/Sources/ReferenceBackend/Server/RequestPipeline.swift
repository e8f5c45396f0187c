import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore

/// Processes a request around its handler: counts it, holds it at gates, applies faults, and adds the common fields and
/// the log line.
struct RequestPipeline: Sendable {
    let core: BackendCore
    let routes: RouteTable

    /// Thrown to close the connection without a response.
    struct ConnectionDroppedError: Error {}

    func respond(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        let resolved = ResolvedRequest(request, routes: routes, channel: channel, now: core.state.now)
        if request.headers[.expect]?.lowercased() == "100-continue" {
            try await writer.writeInformationalHead(HTTPResponse(status: .continue))
        }
        let reply: Reply
        do {
            reply = try await respond(resolved)
        } catch {
            log(resolved, status: nil)
            connection(of: channel).closeAbruptly()
            throw error
        }
        if resolved.isCounted {
            core.state.count { $0.countResponse(reply.status, route: resolved.routeName) }
        }
        let (head, body) = finished(reply, for: resolved.scope)
        do {
            try await writer.write(response: head, body: body)
        } catch {
            // Part of the response may have been sent; closing the connection tells the client that it is incomplete.
            connection(of: channel).closeAbruptly()
            throw error
        }
        if resolved.isCounted {
            core.controls.responses.record(method: resolved.scope.method, path: resolved.scope.path)
            notify(.responded(status: reply.status), resolved)
        }
        log(resolved, status: reply.status)
    }

    private func respond(_ resolved: ResolvedRequest) async throws -> Reply {
        guard resolved.isCounted else { return try await handle(resolved) }
        let (method, path) = (resolved.scope.method, resolved.scope.path)
        countArrival(resolved)
        let gates = core.controls.requestGates
        try await gates.pass(.arrival, method: method, path: path)
        let reply: Reply
        if let fault = core.controls.faultQueue.take(method: method, path: path) {
            core.state.count { $0.faultsApplied += 1 }
            reply = try await apply(fault, to: resolved)
        } else {
            reply = try await handle(resolved)
        }
        notify(.handled(status: reply.status), resolved)
        try await gates.pass(.response, method: method, path: path)
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
        notify(.arrived, resolved)
    }

    private func notify(_ stage: RequestMoment.Stage, _ resolved: ResolvedRequest) {
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
        case .respond(let response):
            return reply(response, scope: resolved.scope)
        case .commitThenRespond(let response):
            _ = try await handle(resolved)
            return reply(response, scope: resolved.scope)
        case .dropConnection:
            throw ConnectionDroppedError()
        case .commitThenDropConnection:
            _ = try await handle(resolved)
            throw ConnectionDroppedError()
        case .hang:
            let clientLeft = await ClientPresence.signal(of: resolved.scope.channel)
            await core.controls.hangs.wait(until: clientLeft)
            throw ConnectionDroppedError()
        }
    }

    private func reply(_ response: FaultRule.Response, scope: RequestScope) -> Reply {
        var reply: Reply
        if let body = response.body {
            reply =
                body.isEmpty
                ? .empty(response.status) : .text(body, status: response.status, contentType: response.contentType)
        } else if response.status >= 400 {
            let error = APIError(
                status: response.status, code: "INJECTED_FAULT", message: "A fault rule produced this response.")
            reply = core.rules.failure(error, scope: scope)
        } else {
            reply = .empty(response.status)
        }
        for (name, value) in response.headers {
            if let field = HTTPField.Name(name) { reply.headers[field] = value }
        }
        return reply
    }

    private func handle(_ resolved: ResolvedRequest) async throws -> Reply {
        do {
            return try await Sessions.$onUsedToken.withValue({
                notify($0 == .repeated ? .grantRepeated : .reuseDetected, resolved)
            }) {
                try await resolved.run()
            }
        } catch let error as APIError {
            return resolved.isManagement
                ? .json(["message": .string(error.message)], status: error.status)
                : core.rules.failure(error, scope: resolved.scope)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            if !resolved.scope.channel.isActive { throw error }
            // Log the type only: a description may contain what the client sent.
            core.logger.error("Request handler failed.", metadata: ["error": "\(type(of: error))"])
            return core.rules.failure(.serverError, scope: resolved.scope)
        }
    }
}
