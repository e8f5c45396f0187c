import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore

extension RequestPipeline {
    /// Adds the fields of every response, and removes content that the status or method forbids.
    func finished(_ reply: Reply, for scope: RequestScope) -> (HTTPResponse, ResponseBody) {
        var head = HTTPResponse(status: HTTPResponse.Status(code: reply.status), headerFields: reply.headers)
        if head.headerFields[.date] == nil { head.headerFields[.date] = core.state.now.httpDate }
        head.headerFields[.requestID] = scope.id
        guard reply.mayHaveContent else { return (head, ResponseBody()) }
        if let length = reply.body.contentLength, head.headerFields[.contentLength] == nil {
            head.headerFields[.contentLength] = String(length)
        }
        return (head, scope.method == "HEAD" ? ResponseBody() : reply.body)
    }

    func log(_ resolved: ResolvedRequest, status: Int?) {
        core.logger.info(
            "request",
            metadata: [
                "method": "\(resolved.scope.method)", "path": "\(resolved.scope.path)",
                "status": "\(status.map(String.init) ?? "none")", "ms": "\(resolved.scope.elapsedMilliseconds)",
                "request_id": "\(resolved.scope.id)",
            ])
    }

    /// Returns the TCP connection of a channel, which may be an HTTP/2 stream. The parent of a connection is the
    /// listening socket, which has no parent.
    func connection(of channel: any Channel) -> any Channel {
        if let parent = channel.parent, parent.parent != nil { return parent }
        return channel
    }
}

/// A request and its route.
struct ResolvedRequest: Sendable {
    let scope: RequestScope
    private let result: RouteTable.Result

    init(_ request: Request, routes: RouteTable, channel: any Channel, now: Timestamp) {
        let path = request.uri.path
        result = routes.match(request.method.rawValue, path)
        var parameters: [String: String] = [:]
        if case .found(let match) = result { parameters = match.parameters }
        scope = RequestScope(
            id: RandomBytes.identifier(), request: request, method: request.method.rawValue, path: path,
            query: FormFields(request.uri.query ?? ""), parameters: parameters, startedAt: .now, receivedAt: now,
            channel: channel)
    }

    /// Whether the request is for a control, which is neither counted nor subject to faults.
    var isManagement: Bool {
        if case .found(let match) = result { return match.route.kind == .management }
        return false
    }

    var isCounted: Bool { !isManagement }

    /// `METHOD /route`, or the method and path if there is no route.
    var routeName: String {
        if case .found(let match) = result { return "\(scope.method) \(match.route.pattern)" }
        return "\(scope.method) \(scope.path)"
    }

    func run() async throws -> Reply {
        switch result {
        case .found(let match):
            return try await match.route.handler(scope)
        case .wrongMethod(let allowed):
            var error = APIError(
                status: 405, code: "METHOD_NOT_ALLOWED", message: "This path does not support \(scope.method).")
            error.headers[.allow] = allowed.joined(separator: ", ")
            throw error
        case .unknown:
            throw APIError.notFound
        }
    }
}
