internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The part of an attempt that deals with the cache. It comes after the interceptors and the token, because only then
/// are the request and its owner known.
extension CallPipeline {
    /// Looks for a stored response.
    /// - Returns: The cache's response, if it has one; otherwise the attempt's ticket, if it uses the cache.
    func consult(
        _ cache: HTTPCache, for request: HTTPRequest, at origin: Origin, _ call: CallState
    ) -> (answer: ServerResponse?, ticket: CacheTicket?) {
        let isSafe = request.method.isSafe
        let isReading = request.method.isGetOrHead
        let control = CacheControl(request.headerFields)
        // Even if the cache has no response for such a call, the call must not use the network.
        let refusal =
            isReading && control.contains("only-if-cached")
            ? ServerResponse(head: HTTPResponse(status: .gatewayTimeout), body: Data()) : nil
        if isSafe {
            let mayUseCache = call.receiver == nil && call.monitor == nil && call.body == nil
            guard mayUseCache, isReading, !request.isConditional else { return (refusal, nil) }
        }
        guard let owner = call.responseOwner.map({ resolved($0, for: call) }) else { return (refusal, nil) }
        cache.begin(owner, of: tokens)
        let isSigned = authorizer?.carriesToken(request, for: call) == true
        let fields = fieldsWithoutToken(of: request, call)
        let ticket = CacheTicket(
            cache, responseStorage,
            for: CacheRequest(
                method: request.method, url: CacheRequest.url(of: request, at: origin), fields: fields,
                partition: CachePartition(owner: owner, isSigned: isSigned, credentials: fields.credentials),
                control: control), time: time)
        if let answer = ticket.freshResponse() { return (answer, nil) }
        if let refusal { return (refusal, nil) }
        return (nil, isSafe && !ticket.mayStore ? nil : ticket)
    }

    /// Sends a request on behalf of the cache.
    func run(
        _ request: HTTPRequest, at origin: Origin, for call: CallState, with ticket: CacheTicket,
        onUnusedResponse: (@Sendable (ServerResponse) -> Void)? = nil
    ) async throws -> (response: ServerResponse, report: Exchange.Report) {
        guard ticket.mayStore else {
            return try await runWriting(
                request, at: origin, for: call, with: ticket, onUnusedResponse: onUnusedResponse)
        }
        do {
            return try await runReading(request, at: origin, for: call, with: ticket)
        } catch {
            guard Self.mayHide(error), let stale = ticket.staleResponse() else { throw error }
            return (stale, Exchange.Report(isStale: true))
        }
    }

    /// Sends a request that may change what is stored.
    private func runWriting(
        _ request: HTTPRequest, at origin: Origin, for call: CallState, with ticket: CacheTicket,
        onUnusedResponse: (@Sendable (ServerResponse) -> Void)? = nil
    ) async throws -> (response: ServerResponse, report: Exchange.Report) {
        var target: String?
        // The server may have performed the request even if no response arrives.
        var mayHaveChanged = true
        defer { if mayHaveChanged { ticket.invalidate(redirectedTo: target) } }
        let (response, report) = try await exchangeRunner.run(
            request, at: origin, for: call, onUnusedResponse: onUnusedResponse)
        target = report.redirectTarget
        mayHaveChanged = report.redirectTarget != nil || response.status < 400
        return (response, report)
    }

    /// Sends a request whose response may be stored. If a response is stored, asks the server whether it is still
    /// valid.
    private func runReading(
        _ request: HTTPRequest, at origin: Origin, for call: CallState, with ticket: CacheTicket
    ) async throws -> (response: ServerResponse, report: Exchange.Report) {
        let conditional = ticket.stored?.conditional(request)
        var isConditional = conditional != nil
        var (response, report) = try await exchangeRunner.run(
            conditional ?? request, at: origin, for: call, hasCacheConditions: isConditional)
        if isConditional, response.status == 304,
            report.redirectTarget != nil || ticket.stored?.isContradicted(by: response.head) == true
        {
            ticket.discard()
            isConditional = false
            (response, report) = try await runAgain(request, at: origin, for: call)
        }
        if [500, 502, 503, 504].contains(response.status), let stale = ticket.staleResponse() {
            report.isStale = true
            return (stale, report)
        }
        let resolved = ticket.resolve(
            response, isRedirected: report.redirectTarget != nil, isConditional: isConditional)
        return (resolved, report)
    }

    /// Sends a request once more within its attempt, because the response to the conditional one was of no use.
    private func runAgain(
        _ request: HTTPRequest, at origin: Origin, for call: CallState
    ) async throws -> (response: ServerResponse, report: Exchange.Report) {
        var (request, call, renewed) = (request, call, Credential?.none)
        try await authorizer?.prepareNextRequest(&request, for: call.authorization, &renewed)
        if let renewed { authorizer?.recordAttached(renewed, for: &call) }
        var (response, report) = try await exchangeRunner.run(request, at: origin, for: call)
        report.renewed = report.renewed ?? renewed
        return (response, report)
    }

    /// Whether a stored response may replace a failure: only if the server could not be reached or did not respond (RFC
    /// 5861, section 4). A server whose TLS handshake fails has been reached.
    private static func mayHide(_ error: any Error) -> Bool {
        switch error as? TransportError {
        case .offline, .cannotConnect, .connectionLost, .timedOut: true
        case .tlsFailed, .invalidResponse, .invalidRequest, .bodyFailed: false
        case nil: error is TimeLimitError
        }
    }
}
