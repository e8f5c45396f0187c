import Martlet

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A request of a caller, and what the server does with it.
struct RequestPlan: Sendable, Hashable {
    /// The kind of call, which decides how the caller reads the response.
    enum Kind: Sendable { case plain, stream, events, login, guest, inner, refresher, signed, repeated, shared, film }
    /// The body of a POST.
    enum Payload: Sendable { case none, short, ofUnknownLength }
    /// The target of a redirect.
    enum Redirect: Sendable { case sameOrigin, otherOrigin }

    var kind = Kind.plain
    var authentication = AuthenticationRequirement.required
    var isPost = false
    var body = Payload.none
    var redirect: Redirect?
    /// Whether this endpoint rejects every token, although other endpoints accept it.
    var isPicky = false
    /// Whether the call may refresh the token and be sent again with the new one.
    var allowsRefresh = true
    /// The resource, which decides how the response may be kept.
    var resource: Resource?

    var isSignIn: Bool { kind == .login || kind == .guest }
}

/// The endpoint of a call. Its path names the call.
struct FuzzEndpoint: APIEndpoint {
    let call: Int
    let plan: RequestPlan

    var path: RequestPath { "/\(call)" }
    var method: HTTPRequest.Method { plan.isPost ? .post : .get }
    var authentication: AuthenticationRequirement { plan.authentication }
    var allowsRefresh: Bool { plan.allowsRefresh }
    var body: RequestBody? {
        switch plan.body {
        case .none: nil
        case .short: .text("short")
        case .ofUnknownLength: .stream(length: nil, contentType: nil) { ByteStream(Data("long".utf8)) }
        }
    }
}

/// Waits before a request is sent and after its response, and may make a call of its own through the same client.
///
/// `@unchecked Sendable`: a schedule runs on one thread.
final class FuzzInterceptor: RequestInterceptor, @unchecked Sendable {
    weak var client: NetworkClient?
    private let world: World
    private let life: Life
    private let clock: ProcessClock

    init(_ world: World, _ life: Life, _ clock: ProcessClock) {
        self.world = world
        self.life = life
        self.clock = clock
    }

    func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        try await pause()
    }

    func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        try await pause()
        guard world.script.interceptor == .calls, let client, let outer = context.endpoint as? FuzzEndpoint,
            outer.plan.kind != .inner, outer.plan.kind != .refresher
        else { return }
        let call = world.history.nextCall()
        let plan = RequestPlan(
            kind: .inner, authentication: outer.plan.authentication, allowsRefresh: outer.plan.allowsRefresh)
        world.begin(call, of: life, caller: 0, .request(plan), SimulatedProcess.situation(of: client.tokens, world))
        do throws(NetworkError) {
            _ = try await client.data(for: FuzzEndpoint(call: call, plan: plan))
            world.end(call, of: life, clock.power, .done)
        } catch {
            world.end(call, of: life, clock.power, .failed(error))
        }
    }

    func process(_ response: ServerResponse, for context: inout RequestContext) async throws -> ServerResponse {
        try await pause()
        return response
    }

    private func pause() async throws {
        let wait = world.interceptorDelay()
        if wait > .zero { try await clock.sleep(until: clock.uptime + wait) }
    }
}
