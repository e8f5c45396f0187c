/// Maps methods and paths to handlers. The route is known before its handler runs, so that a request to which a fault
/// responds is still counted under its route.
struct RouteTable: Sendable {
    typealias Handler = @Sendable (RequestScope) async throws -> Reply

    /// The purpose of a route.
    enum Kind: Sendable {
        /// The application's API: uses the dialect, is counted and is subject to faults.
        case application
        /// Endpoints for tests of transports: counted, and subject to faults that name them.
        case transport
        /// The backend's controls: neither counted nor subject to faults.
        case management
    }

    /// A method and a path pattern, such as `/articles/{id}`, with their handler.
    struct Route: Sendable {
        let method: String
        let pattern: String
        let kind: Kind
        let handler: Handler
        let segments: [Substring]
    }

    /// A route that matches a request, with the values of its path parameters.
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

    /// The methods and paths of all routes, one per line.
    var list: String {
        routes.map { route in
            let method = route.method == "*" ? "ANY" : route.method
            return method.padding(7) + route.pattern + "\n"
        }.joined()
    }

    /// Finds the route of a request. `HEAD` falls back to `GET`, and the method `*` matches any.
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

extension String {
    fileprivate func padding(_ width: Int) -> String {
        self + String(repeating: " ", count: max(width - count, 1))
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
