import HTTPTypes
import Martlet
import MartletTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A resource that all callers of a client read, so that calls have the same URL.
struct SharedEndpoint: APIEndpoint {
    let resource: Resource

    var path: RequestPath { "/shared/\(resource.number)" }
    var authentication: AuthenticationRequirement { resource.authentication }
}

/// A resource that all callers of the client without a manager read.
struct PlainEndpoint: APIEndpoint {
    let resource: Resource
    let credential: Int
    let carriesCredential: Bool

    var path: RequestPath { "/plain/\(resource.number)" }
    var authentication: AuthenticationRequirement { .none }
    var headers: HTTPFields { carriesCredential ? [.authorization: "Bearer c\(credential).0"] : [:] }
}

/// Puts the app's own credential on a request.
struct CredentialInterceptor: RequestInterceptor {
    func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        guard let endpoint = context.endpoint as? PlainEndpoint else { return }
        request.headerFields[.authorization] = "Bearer c\(endpoint.credential).0"
    }
}

/// The client without a manager of one process.
///
/// `@unchecked Sendable`: a schedule runs on one thread.
final class PlainClient: @unchecked Sendable {
    /// The number of times the app has emptied the jar and the cache.
    private(set) var generation = 0
    private let jar = CookieJar()
    private let cache = HTTPCache()
    private let client: NetworkClient
    private let isAuthorizedByEndpoint: Bool

    init(_ life: Life, _ world: World, _ power: ProcessLife, _ config: NetworkConfig) {
        let network = Network(server: world.server, life: life, power: power)
        var config = config
        config.cookies = jar
        config.cache = cache
        config.coalescesIdenticalCalls = true
        config.interceptors = world.script.habits.interceptorAuthorizes ? [CredentialInterceptor()] : []
        isAuthorizedByEndpoint = !world.script.habits.interceptorAuthorizes
        client = NetworkClient(baseURL: SimulatedProcess.baseURL, config: config, transport: network)
        network.current.client = self
    }

    func get(_ resource: Resource, credential: Int) async throws -> PlainOwner? {
        let endpoint = PlainEndpoint(
            resource: resource, credential: credential, carriesCredential: isAuthorizedByEndpoint)
        return PlainOwner(String(decoding: try await client.data(for: endpoint).value, as: UTF8.self))
    }

    /// Empties the jar and the cache, as an app does when its user changes.
    func empty() {
        generation += 1
        jar.removeAll()
        cache.removeAll()
    }

    /// The network of the client. It tells the server which generation a request belongs to.
    private struct Network: Transport {
        /// `@unchecked Sendable`: a schedule runs on one thread.
        final class Current: @unchecked Sendable { weak var client: PlainClient? }

        let server: SimulatedServer
        let life: Life
        let power: ProcessLife
        let current = Current()

        func send(
            _ request: HTTPRequest, body: OutgoingBody?
        ) async throws -> (head: HTTPResponse, body: ByteStream) {
            try await server.respondPlainly(request, generation: current.client?.generation ?? 0, life, power)
        }
    }
}

extension SimulatedServer {
    /// Responds to the client without a manager.
    fileprivate func respondPlainly(
        _ request: HTTPRequest, generation: Int, _ life: Life, _ power: ProcessLife
    ) async throws -> Response {
        guard power.isOn else { throw PowerCut() }
        history.add(.plainRequest(life, cookie: request.user, generation: generation))
        let credential = request.headerFields[.authorization].flatMap { TokenName($0.dropFirst("Bearer ".count)) }
        let owner = PlainOwner(credential: credential?.family ?? 0, generation: generation)
        await wait(for: delay())
        guard power.isOn else { throw PowerCut() }
        try Task.checkCancellation()
        if !isReachable { throw TransportError.offline }
        if failsNow() { throw TransportError.connectionLost("reset by peer") }
        let resource = request.path.flatMap { Resource(number: Int($0.dropFirst("/plain/".count)) ?? 0) }
        return keepable(resource, owner.text, cookie: generation, request)
    }

    /// A response that the client may keep, and that sets a cookie.
    func keepable(_ resource: Resource?, _ content: String, cookie: Int, _ request: HTTPRequest) -> Response {
        var response = (head: HTTPResponse(status: .ok), body: ByteStream(Data(content.utf8)))
        var fields: HTTPFields = [.setCookie: "u=\(cookie); Path=/"]
        switch resource?.freshness {
        case .aMinute: fields[.cacheControl] = "max-age=60"
        case .afterAsking: fields[.cacheControl] = "no-cache"
        case .afterFailures: fields[.cacheControl] = "max-age=0, stale-if-error=600"
        case .never, nil: fields[.cacheControl] = "no-store"
        }
        fields[.eTag] = "\"\(content)\""
        if request.headerFields[.ifNoneMatch] == fields[.eTag] {
            response = (head: HTTPResponse(status: .notModified), body: ByteStream(Data()))
        }
        response.head.headerFields = fields
        return response
    }
}

extension HTTPRequest {
    /// The user in the cookie that the server has set.
    var user: Int? {
        headerFields[.cookie].flatMap { field in
            field.split(separator: ";").map { $0.drop { $0 == " " } }.first { $0.hasPrefix("u=") }
                .flatMap { Int($0.dropFirst(2)) }
        }
    }
}
