import HTTPTypes
import Martlet
import MartletTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A server with rotating refresh tokens and reuse detection, behind an unreliable network.
///
/// `@unchecked Sendable`: a schedule runs on one thread.
final class SimulatedServer: @unchecked Sendable {
    /// A session on the server.
    private struct Family {
        /// The number of the current token.
        var current = 0
        /// Why the session has ended; `nil` if it has not.
        var endReason: Rejection?
        /// When the last refresh token was replaced.
        var replacedAt: Duration?
        /// The lowest number of an access token that is still accepted.
        var firstAccepted = 0
        var issuedAt: [Duration] = []
    }

    private let script: Script
    private let time: ManualTimeSource
    private let history: History
    private var dice: SeededGenerator
    private var families: [Int: Family] = [:]
    private var lastFamily = 0
    private var isCalm = false

    init(_ script: Script, seed: UInt64, time: ManualTimeSource, history: History) {
        self.script = script
        self.time = time
        self.history = history
        dice = SeededGenerator(seed: seed ^ 0x5E4F_3E12)
    }

    /// Ends all failures and long delays.
    func calmDown() { isCalm = true }

    /// Creates a session and its first tokens.
    func issue() -> (family: Int, bundle: TokenBundle) {
        lastFamily += 1
        families[lastFamily] = Family(issuedAt: [time.uptime])
        return (lastFamily, bundle(TokenName(family: lastFamily, number: 0)))
    }

    private func bundle(_ token: TokenName) -> TokenBundle {
        TokenBundle(
            accessToken: token.access, refreshToken: token.refresh, lifetime: script.lifetime.map { .seconds($0) })
    }

    /// Rejects the current access token of the latest session from now on.
    func withdrawAccess() {
        guard var family = families[lastFamily] else { return }
        family.firstAccepted = family.current + 1
        families[lastFamily] = family
        history.add(.withdraws(family: lastFamily))
    }

    /// Ends the latest session.
    func forget() {
        guard lastFamily > 0 else { return }
        end(lastFamily, .withdrawn)
        history.add(.forgets(family: lastFamily))
    }

    private func end(_ family: Int, _ reason: Rejection) {
        if families[family]?.endReason == nil { families[family]?.endReason = reason }
    }

    private func delay() -> Duration {
        let quick: [Duration] = [.zero, .zero, .milliseconds(10), .milliseconds(40), .milliseconds(90)]
        guard script.isSlow, !isCalm, dice.isTrue(inPercent: 30) else { return dice.pick(quick) }
        return dice.pick([.seconds(1), .seconds(12), .seconds(29), .seconds(30), .seconds(31), .seconds(50)])
    }

    private func failsNow() -> Bool {
        !isCalm && dice.isTrue(inPercent: script.networkFailurePercent)
    }

    private func wait(for duration: Duration) async {
        await SeededScheduler.pause()
        if duration > .zero { try? await time.sleep(until: time.uptime + duration) }
    }
}

// MARK: - Refreshing

extension SimulatedServer {
    func refresh(_ bundle: TokenBundle, by life: Life, _ power: ProcessLife) async throws -> TokenBundle {
        power.touch()
        guard power.isOn, let token = bundle.refreshToken.flatMap({ TokenName($0.reveal()) }) else { throw PowerCut() }
        let send = history.nextSend()
        history.add(.sends(life, send: send, token))
        let exchange = OneShotResult<TokenBundle>()
        power.whenOff { exchange.finish(.failure(PowerCut())) }
        // If the client stops waiting, the server may notice the closed connection, or it may continue.
        let ignoresCancellation = script.isSlow && !isCalm && dice.isTrue(inPercent: 30)
        Task { exchange.finish(await self.serve(token, send, ignoresCancellation: ignoresCancellation)) }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { exchange.wait($0) }
        } onCancel: {
            guard power.isOn else { return }
            self.history.add(.abandons(send: send))
            if !ignoresCancellation { exchange.finish(.failure(CancellationError())) }
        }
        power.touch()
        guard power.isOn else { throw PowerCut() }
        history.add(.delivers(send: send))
        return try result.get()
    }

    /// How the exchange of a refresh token fails.
    private enum Fault { case unreachable, busy, failure, commitThenFailure, lostResponse, silence, commitThenSilence }

    private func serve(_ token: TokenName, _ send: Int, ignoresCancellation: Bool) async -> Result<
        TokenBundle, any Error
    > {
        await wait(for: delay())
        var fault: Fault?
        if failsNow() {
            fault = dice.pick([.unreachable, .busy, .failure, .commitThenFailure, .lostResponse, .lostResponse])
            if !ignoresCancellation, dice.isTrue(inPercent: 20) { fault = dice.pick([.silence, .commitThenSilence]) }
        }
        switch fault {
        case .unreachable: return fail(send, .connection, "the server is unreachable", mayHaveSpentToken: false)
        case .busy:
            history.add(.breaks(send: send, "the server is busy (503)"))
            let wait: Duration? = dice.pick([nil, .seconds(2), .seconds(120)])
            return .failure(RefreshError(.status(503), retryAfter: wait, description: "busy"))
        case .failure: return fail(send, .status(500), "the server fails before it has done anything (500)")
        case .silence:
            history.add(.breaks(send: send, "the server never responds"))
            return await forever()
        case .commitThenFailure, .lostResponse, .commitThenSilence, nil: break
        }
        let response = commit(token, send)
        await wait(for: delay())
        switch fault {
        case .commitThenFailure: return fail(send, .status(500), "the server fails after the refresh was done (500)")
        case .lostResponse: return fail(send, .connection, "the response is lost")
        case .commitThenSilence:
            history.add(.breaks(send: send, "the response never arrives"))
            return await forever()
        default: return response
        }
    }

    /// Waits longer than any refresh does. The client's time limit ends the refresh, and cancelling it ends this task.
    private func forever() async -> Result<TokenBundle, any Error> {
        try? await time.sleep(until: time.uptime + .seconds(100_000))
        return .failure(CancellationError())
    }

    private func fail(
        _ send: Int, _ kind: RefreshError.Kind, _ reason: String, mayHaveSpentToken: Bool? = nil
    ) -> Result<TokenBundle, any Error> {
        history.add(.breaks(send: send, reason))
        return .failure(RefreshError(kind, description: reason, mayHaveSpentToken: mayHaveSpentToken))
    }

    private func commit(_ token: TokenName, _ send: Int) -> Result<TokenBundle, any Error> {
        guard var family = families[token.family] else { return .failure(RefreshRejectedError(code: "invalid_grant")) }
        if family.endReason == nil, token.number == family.current {
            family.current += 1
            family.replacedAt = time.uptime
            family.issuedAt.append(time.uptime)
            families[token.family] = family
            history.add(.commits(send: send, token.next))
            return .success(bundle(token.next))
        }
        // The client counts the grace period from its first request, the server from the later replacement.
        if family.endReason == nil, token.number == family.current - 1, let replacedAt = family.replacedAt,
            time.uptime - replacedAt <= script.grace, script.grace > .zero
        {
            history.add(.repeats(send: send, token.next))
            return .success(bundle(token.next))
        }
        let reason = family.endReason ?? .spent
        history.add(.refuses(send: send, reason))
        end(token.family, .withdrawn)
        return .failure(RefreshRejectedError(code: "invalid_grant"))
    }
}

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

        func refresh(_ bundle: TokenBundle, over client: TokenEndpointClient) async throws -> TokenBundle {
            try await server.refresh(bundle, by: life, power)
        }
    }

    func revoker(_ power: ProcessLife) -> TokenRevoker {
        .custom { bundle, _ in try await self.revoke(bundle, power) }
    }

    private func revoke(_ bundle: TokenBundle, _ power: ProcessLife) async throws {
        power.touch()
        let delay = delay()
        await wait(for: delay)
        guard power.isOn, !failsNow(), let token = TokenName(of: bundle) else { throw PowerCut() }
        end(token.family, .signedOut)
        history.add(.revokes(family: token.family))
    }

    private func respond(_ request: HTTPRequest, _ life: Life, _ power: ProcessLife) async throws -> (
        head: HTTPResponse, body: ByteStream
    ) {
        let exchange = OneShotResult<(head: HTTPResponse, body: ByteStream)>()
        power.whenOff { exchange.finish(.failure(PowerCut())) }
        Task { exchange.finish(await self.serve(request, life, power)) }
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { exchange.wait($0) }
        } onCancel: {
            exchange.finish(.failure(CancellationError()))
        }.get()
    }

    private func serve(
        _ request: HTTPRequest, _ life: Life, _ power: ProcessLife
    ) async -> Result<(head: HTTPResponse, body: ByteStream), any Error> {
        guard power.isOn else { return .failure(PowerCut()) }
        let call = request.path.flatMap { Int($0.dropFirst()) } ?? 0
        guard let token = request.headerFields[.authorization].flatMap({ TokenName($0.dropFirst("Bearer ".count)) })
        else { return .success(response(200)) }
        // The entry records when the request leaves the process, not when it arrives.
        let entry = history.entries.count
        history.add(.request(life, call: call, token, isAccepted: true))
        await wait(for: delay())
        if failsNow() {
            return dice.isTrue(inPercent: 50)
                ? .failure(TransportError.connectionLost("reset by peer")) : .success(response(503))
        }
        guard !isAccepted(token) else { return .success(response(200)) }
        history.refuseRequest(at: entry)
        return .success(response(401))
    }

    private func isAccepted(_ token: TokenName) -> Bool {
        guard let family = families[token.family], family.endReason == nil, token.number >= family.firstAccepted,
            token.number < family.issuedAt.count
        else { return false }
        guard let lifetime = script.lifetime else { return true }
        return time.uptime < family.issuedAt[token.number] + .seconds(lifetime)
    }

    private func response(_ status: Int) -> (head: HTTPResponse, body: ByteStream) {
        (head: HTTPResponse(status: .init(code: status)), body: ByteStream(Data()))
    }
}
