import HTTPTypes
import Martlet
import MartletTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// MARK: - Connections of the processes

extension SimulatedServer {
    /// One process's network connection to the server.
    struct Network: Transport {
        let server: SimulatedServer
        let life: Life
        let power: ProcessLife

        func send(
            _ request: HTTPRequest, body: OutgoingBody?
        ) async throws -> (head: HTTPResponse, body: ByteStream) {
            try await server.respond(request, life, power)
        }
    }

    /// Refreshes the tokens of one process.
    struct Refresher: TokenRefresher {
        let server: SimulatedServer
        let life: Life
        let power: ProcessLife
        let world: World
        let app: App

        func refresh(_ tokens: Tokens, over client: TokenEndpointClient) async throws -> Tokens {
            let decidedAt = server.history.entries.count
            if world.script.habits.refresherCalls {
                // A user may sign in or out between the engine's decision and the call.
                await server.wait(for: server.dice.pick([.zero, .milliseconds(20), .seconds(1)]))
                await callTheApp(tokens)
            }
            return try await server.refresh(tokens, decidedAt: decidedAt, by: life, power)
        }

        /// Makes a call with the app's own client, which may belong to another user by now.
        private func callTheApp(_ tokens: Tokens) async {
            guard power.isOn, let token = TokenName(of: tokens), let client = app.client else { return }
            let call = server.history.nextCall()
            let plan = RequestPlan(
                kind: .refresher, authentication: server.dice.pick([.ifSignedIn, .none]),
                isPicky: server.dice.isTrue(inPercent: 30))
            world.begin(call, of: life, caller: 0, .request(plan), .session(token.family))
            do throws(NetworkError) {
                _ = try await client.data(for: FuzzEndpoint(call: call, plan: plan))
                world.end(call, of: life, power, .done)
            } catch {
                world.end(call, of: life, power, .failed(error))
            }
        }

        func tokens(inSignInResponse response: ServerResponse) throws -> Tokens {
            let digits = response.body.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            let family = Int(String(decoding: digits, as: UTF8.self)) ?? 0
            return server.tokens(TokenName(family: family, number: 0))
        }
    }

    func revoker(_ life: Life, _ power: ProcessLife) -> TokenRevoker {
        .custom { tokens, _ in try await self.revoke(tokens, life, power) }
    }

    private func revoke(_ tokens: Tokens, _ life: Life, _ power: ProcessLife) async throws {
        power.touch()
        await wait(for: delay())
        guard power.isOn, let token = TokenName(of: tokens) else { throw PowerCut() }
        guard !failsNow() else {
            history.add(.missesRevocation(life, family: token.family))
            throw TransportError.connectionLost("reset by peer")
        }
        end(token.family, .signedOut)
        history.add(.revokes(life, family: token.family))
    }
}

// MARK: - The API

extension SimulatedServer {
    typealias Response = (head: HTTPResponse, body: ByteStream)

    private static let host = "api.example.com"

    private func respond(_ request: HTTPRequest, _ life: Life, _ power: ProcessLife) async throws -> Response {
        guard power.isOn else { throw PowerCut() }
        let call = Self.call(of: request) ?? shared(request)
        let token = request.headerFields[.authorization].flatMap { TokenName($0.dropFirst("Bearer ".count)) }
        let isElsewhere = request.authority != Self.host
        let entry = history.entries.count
        history.add(
            .request(
                Exchange(life: life, call: call, token: token, isElsewhere: isElsewhere, cookie: request.user)))
        let exchange = OneShotResult<Response>()
        power.whenOff { exchange.finish(.failure(PowerCut())) }
        Task { exchange.finish(await self.serve(request, call, token, power)) }
        let response = try await withTaskCancellationHandler {
            await withCheckedContinuation { exchange.wait($0) }
        } onCancel: {
            exchange.finish(.failure(CancellationError()))
        }.get()
        history.respond(response.head.status.code, at: entry)
        if plan(of: call).isSignIn, response.head.status.code == 200 { history.add(.arrives(call: call)) }
        return response
    }

    /// The call that a request belongs to; `nil` if calls may share it.
    private static func call(of request: HTTPRequest) -> Int? {
        request.path.flatMap { Int($0.dropFirst().prefix { $0 != "/" }) }
    }

    /// A number for a request that calls may share.
    private func shared(_ request: HTTPRequest) -> Int {
        let call = history.nextShared()
        if request.path == FilmEndpoint.prefix {
            expect(call, RequestPlan(kind: .film))
            return call
        }
        let resource = request.path.flatMap { Resource(number: Int($0.dropFirst("/shared/".count)) ?? 0) }
        expect(call, RequestPlan(kind: .shared, resource: resource))
        return call
    }

    private func serve(
        _ request: HTTPRequest, _ call: Int, _ token: TokenName?, _ power: ProcessLife
    ) async -> Result<Response, any Error> {
        await wait(for: delay())
        guard power.isOn else { return .failure(PowerCut()) }
        if !isReachable { return .failure(TransportError.offline) }
        if failsNow() {
            guard dice.isTrue(inPercent: 50) else { return .failure(TransportError.connectionLost("reset by peer")) }
            return .success(response(503))
        }
        // Another server's 401 does not concern the token, which it did not get.
        if request.authority != Self.host { return .success(response(dice.isTrue(inPercent: 20) ? 401 : 200)) }
        if let token, !isAccepted(token) || plan(of: call).isPicky { return .success(response(401)) }
        let response = accept(request, call, token, power)
        // Users sign out while requests are redirected.
        if response.head.status.code == 307, !isCalm {
            await wait(for: dice.pick([.zero, .milliseconds(20), .seconds(1), .seconds(6)]))
        }
        return .success(response)
    }

    /// The response to a request whose token is valid.
    private func accept(
        _ request: HTTPRequest, _ call: Int, _ token: TokenName?, _ power: ProcessLife
    ) -> Response {
        let plan = plan(of: call)
        if let redirect = plan.redirect, request.path?.hasSuffix("/moved") == false {
            var moved = response(307)
            let origin = redirect == .otherOrigin ? "https://cdn.example.net" : ""
            moved.head.headerFields[.location] = "\(origin)/\(call)/moved"
            return moved
        }
        switch plan.kind {
        case .plain, .inner, .refresher, .signed, .repeated: return response(200)
        case .shared:
            let family = token?.family ?? 0
            return keepable(plan.resource, "\(family)", cookie: family, request)
        case .film: return film(request, for: token?.family ?? 0, power)
        case .login, .guest:
            let family = issue().family
            history.add(.issues(call: call, family: family))
            var signedIn = response(200)
            signedIn.body = ByteStream(Data((plan.kind == .guest ? "{\"id\":\(family)}" : "\(family)").utf8))
            signedIn.head.headerFields[.setCookie] = "u=\(family); Path=/"
            return signedIn
        case .stream:
            var stream = response(200)
            stream.body = pieces(of: call, power) { "\($0)" }
            return stream
        case .events:
            connections[call, default: 0] += 1
            guard connections[call, default: 0] < 4, !isCalm else { return response(204) }
            var stream = response(200)
            stream.head.headerFields[.contentType] = "text/event-stream"
            stream.body = pieces(of: call, power) { "retry: 200\nid: \($0)\ndata: \($0)\n\n" }
            return stream
        }
    }

    /// A few pieces of a stream, which may break.
    private func pieces(
        of call: Int, _ power: ProcessLife, _ text: @escaping @Sendable (Int) -> String
    ) -> ByteStream {
        ByteStream { [self] in
            var left = dice.number(below: 4)
            return { [self] () async throws -> Data? in
                guard let piece = try await nextPiece(of: call, power, isLast: left == 0) else { return nil }
                left -= 1
                return Data(text(piece).utf8)
            }
        }
    }

    private func nextPiece(of call: Int, _ power: ProcessLife, isLast: Bool) async throws -> Int? {
        await SeededScheduler.pause()
        let wait = isCalm ? .zero : dice.pick([Duration.zero, .milliseconds(50), .seconds(2), .seconds(45)])
        if wait > .zero { try await time.sleep(until: time.uptime + wait) }
        guard power.isOn else { throw PowerCut() }
        try Task.checkCancellation()
        if failsNow() { throw TransportError.connectionLost("reset by peer") }
        guard !isLast, !isCalm else { return nil }
        let piece = history.nextPiece()
        history.add(.streams(call: call, piece: piece))
        return piece
    }

    private func isAccepted(_ token: TokenName) -> Bool {
        guard let family = families[token.family], family.endReason == nil, token.number >= family.firstAccepted,
            token.number < family.issuedAt.count
        else { return false }
        guard let lifetime = script.lifetime else { return true }
        return time.uptime < family.issuedAt[token.number] + .seconds(lifetime)
    }

    private func response(_ status: Int) -> Response {
        (head: HTTPResponse(status: .init(code: status)), body: ByteStream(Data()))
    }
}
