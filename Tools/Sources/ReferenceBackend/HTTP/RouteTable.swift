/// Which handler answers which request. The routes' names are known before a handler runs, so that requests which a
/// fault answers are counted under the route that they were meant for.
struct RouteTable: Sendable {
    typealias Handler = @Sendable (RequestScope) async throws -> Reply

    enum Kind: Sendable {
        /// The application: enveloped, counted, subject to faults.
        case application
        /// For tests of transports: plain, counted, subject to the faults that name it.
        case transport
        /// Controls of the backend itself: plain and never interfered with.
        case management
    }

    struct Route: Sendable {
        let method: String
        let pattern: String
        let kind: Kind
        let handler: Handler
        let segments: [Substring]
    }

    struct Match: Sendable {
        let route: Route
        let parameters: [String: String]
    }

    enum Result: Sendable {
        case found(Match)
        case wrongMethod(allowed: [String])
        case unknown
    }

    private var routes: [Route] = []

    mutating func add(_ method: String, _ pattern: String, kind: Kind = .application, _ handler: @escaping Handler) {
        let segments = pattern.split(separator: "/")
        routes.append(Route(method: method, pattern: pattern, kind: kind, handler: handler, segments: segments))
    }

    /// HEAD falls back to GET; `*` as a method takes every one.
    func match(_ method: String, _ path: String) -> Result {
        let segments = path.split(separator: "/")
        var allowed: [String] = []
        for route in routes {
            guard let parameters = route.parameters(in: segments) else { continue }
            if route.method == method || route.method == "*" || (method == "HEAD" && route.method == "GET") {
                return .found(Match(route: route, parameters: parameters))
            }
            allowed.append(route.method)
        }
        return allowed.isEmpty ? .unknown : .wrongMethod(allowed: allowed)
    }
}

extension RouteTable.Route {
    fileprivate func parameters(in path: [Substring]) -> [String: String]? {
        guard path.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (segment, expected) in zip(path, segments) {
            if expected.first == "{" {
                parameters[String(expected.dropFirst().dropLast())] = FormFields.decode(segment)
            } else if segment != expected {
                return nil
            }
        }
        return parameters
    }
}
