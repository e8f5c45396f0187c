import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore

extension RequestPipeline {
    /// Adds what every answer has and takes away what its status or method forbids.
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

    /// The TCP connection under a channel, which may be one of HTTP/2's streams. A connection's parent is the listening
    /// socket, which has none.
    func connection(of channel: any Channel) -> any Channel {
        if let parent = channel.parent, parent.parent != nil { return parent }
        return channel
    }
}

/// A request together with the route that it takes.
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

    /// Whether the request is one of the controls, which are neither counted nor interfered with.
    var isManagement: Bool {
        if case .found(let match) = result { return match.route.kind == .management }
        return false
    }

    var isCounted: Bool { !isManagement }

    /// `METHOD /route`, or the path itself where there is no route.
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
                status: 405, code: "METHOD_NOT_ALLOWED", message: "This address does not take \(scope.method).")
            error.headers[.allow] = allowed.joined(separator: ", ")
            throw error
        case .unknown:
            throw APIError.notFound
        }
    }
}
