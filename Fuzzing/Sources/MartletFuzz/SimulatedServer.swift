import HTTPTypes
import Martlet
import MartletTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A server with rotating refresh tokens and reuse detection, at the end of a network that loses things.
///
/// `@unchecked Sendable` is right because a schedule runs on one thread.
final class SimulatedServer: @unchecked Sendable {
    private struct Family {
        var current = 0
        var isOver: Refusal?
        var replacedAt: Duration?
        /// Access tokens with lower numbers are refused.
        var firstGood = 0
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

    /// From now on all is well.
    func calmDown() { isCalm = true }

    /// Somebody signs in.
    func issue() -> (family: Int, bundle: TokenBundle) {
        lastFamily += 1
        families[lastFamily] = Family(issuedAt: [time.uptime])
        return (lastFamily, bundle(TokenName(family: lastFamily, number: 0)))
    }

    private func bundle(_ token: TokenName) -> TokenBundle {
        TokenBundle(
            accessToken: token.access, refreshToken: token.refresh, lifetime: script.lifetime.map { .seconds($0) })
    }

    /// The access tokens of whoever signed in last are refused from now on.
    func withdrawAccess() {
        guard var family = families[lastFamily] else { return }
        family.firstGood = family.current + 1
        families[lastFamily] = family
        history.add(.withdraws(family: lastFamily))
    }

    /// Whoever signed in last must sign in again.
    func forget() {
        guard lastFamily > 0 else { return }
        end(lastFamily, .withdrawn)
        history.add(.forgets(family: lastFamily))
    }

    private func end(_ family: Int, _ why: Refusal) {
        if families[family]?.isOver == nil { families[family]?.isOver = why }
    }

    private func delay() -> Duration {
        let quick: [Duration] = [.zero, .zero, .milliseconds(10), .milliseconds(40), .milliseconds(90)]
        guard script.isSlow, !isCalm, dice.isTrue(inPercent: 30) else { return dice.pick(quick) }
        return dice.pick([.seconds(1), .seconds(12), .seconds(29), .seconds(30), .seconds(31), .seconds(50)])
    }

    private func goesWrong() -> Bool {
        !isCalm && dice.isTrue(inPercent: script.roughNetwork)
    }

    private func pass(_ duration: Duration) async {
        await SeededScheduler.pause()
        if duration > .zero { try? await time.sleep(until: time.uptime + duration) }
    }
}

// MARK: - Refreshing

extension SimulatedServer {
    func refresh(_ bundle: TokenBundle, by life: Life, _ power: Power) async throws -> TokenBundle {
        power.touch()
        guard power.isOn, let token = bundle.refreshToken.flatMap({ TokenName($0.reveal()) }) else { throw PowerCut() }
        let send = history.nextSend()
        history.add(.sends(life, send: send, token))
        let exchange = Exchange<TokenBundle>()
        power.whenOff { exchange.finish(.failure(PowerCut())) }
        // A connection that was lost is noticed; one that is rude goes on when nobody waits any more.
        let isRude = script.isSlow && !isCalm && dice.isTrue(inPercent: 30)
        Task { exchange.finish(await self.serve(token, send, isRude: isRude)) }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { exchange.wait($0) }
        } onCancel: {
            guard power.isOn else { return }
            self.history.add(.abandons(send: send))
            if !isRude { exchange.finish(.failure(CancellationError())) }
        }
        power.touch()
        guard power.isOn else { throw PowerCut() }
        history.add(.delivers(send: send))
        return try result.get()
    }

    private enum Mishap { case unreachable, busy, failure, commitThenFailure, lostAnswer, silence, commitThenSilence }

    private func serve(_ token: TokenName, _ send: Int, isRude: Bool) async -> Result<TokenBundle, any Error> {
        await pass(delay())
        var mishap: Mishap?
        if goesWrong() {
            mishap = dice.pick([.unreachable, .busy, .failure, .commitThenFailure, .lostAnswer, .lostAnswer])
            if !isRude, dice.isTrue(inPercent: 20) { mishap = dice.pick([.silence, .commitThenSilence]) }
        }
        switch mishap {
        case .unreachable: return breakOff(send, .connection, "it was not reached", mayHaveSpentToken: false)
        case .busy:
            history.add(.breaks(send: send, "it is busy (503)"))
            let wait: Duration? = dice.pick([nil, .seconds(2), .seconds(120)])
            return .failure(RefreshFailure(.status(503), retryAfter: wait, description: "busy"))
        case .failure: return breakOff(send, .status(500), "it fails before it does anything (500)")
        case .silence:
            history.add(.breaks(send: send, "it never answers"))
            return await forever()
        case .commitThenFailure, .lostAnswer, .commitThenSilence, nil: break
        }
        let answer = commit(token, send)
        await pass(delay())
        switch mishap {
        case .commitThenFailure: return breakOff(send, .status(500), "it fails after it was done (500)")
        case .lostAnswer: return breakOff(send, .connection, "its answer is lost")
        case .commitThenSilence:
            history.add(.breaks(send: send, "its answer never arrives"))
            return await forever()
        default: return answer
        }
    }

    /// Nobody waits for it for ever: the refresh has a time limit, and this task ends with what it is asked for.
    private func forever() async -> Result<TokenBundle, any Error> {
        try? await time.sleep(until: time.uptime + .seconds(100_000))
        return .failure(CancellationError())
    }

    private func breakOff(
        _ send: Int, _ kind: RefreshFailure.Kind, _ why: String, mayHaveSpentToken: Bool? = nil
    ) -> Result<TokenBundle, any Error> {
        history.add(.breaks(send: send, why))
        return .failure(RefreshFailure(kind, description: why, mayHaveSpentToken: mayHaveSpentToken))
    }

    private func commit(_ token: TokenName, _ send: Int) -> Result<TokenBundle, any Error> {
        guard var family = families[token.family] else { return .failure(RefreshRejection(code: "invalid_grant")) }
        if family.isOver == nil, token.number == family.current {
            family.current += 1
            family.replacedAt = time.uptime
            family.issuedAt.append(time.uptime)
            families[token.family] = family
            history.add(.commits(send: send, token.next))
            return .success(bundle(token.next))
        }
        // The client counts from its first sending, the server from when it replaced the token, which is later.
        if family.isOver == nil, token.number == family.current - 1, let replacedAt = family.replacedAt,
            time.uptime - replacedAt <= script.grace, script.grace > .zero
        {
            history.add(.repeats(send: send, token.next))
            return .success(bundle(token.next))
        }
        let why = family.isOver ?? .spent
        history.add(.refuses(send: send, why))
        end(token.family, .withdrawn)
        return .failure(RefreshRejection(code: "invalid_grant"))
    }
}

// MARK: - Everything else

extension SimulatedServer {
    /// The way to the server for one process.
    struct Network: Transport {
        let server: SimulatedServer
        let life: Life
        let power: Power

        func send(_ request: HTTPRequest, body: OutgoingBody?) async throws -> TransportResponse {
            try await server.answer(request, life, power)
        }
    }

    struct Refresher: TokenRefresher {
        let server: SimulatedServer
        let life: Life
        let power: Power

        func refresh(_ bundle: TokenBundle, over lane: TokenLane) async throws -> RefreshedTokens {
            RefreshedTokens(try await server.refresh(bundle, by: life, power))
        }
    }

    struct Revoker: TokenRevoker {
        let server: SimulatedServer
        let power: Power

        func revoke(_ bundle: TokenBundle, over lane: TokenLane) async throws {
            try await server.revoke(bundle, power)
        }
    }

    private func revoke(_ bundle: TokenBundle, _ power: Power) async throws {
        power.touch()
        let delay = delay()
        await pass(delay)
        guard power.isOn, !goesWrong(), let token = TokenName(of: bundle) else { throw PowerCut() }
        end(token.family, .signedOut)
        history.add(.revokes(family: token.family))
    }

    private func answer(_ request: HTTPRequest, _ life: Life, _ power: Power) async throws -> TransportResponse {
        let exchange = Exchange<TransportResponse>()
        power.whenOff { exchange.finish(.failure(PowerCut())) }
        Task { exchange.finish(await self.serve(request, life, power)) }
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { exchange.wait($0) }
        } onCancel: {
            exchange.finish(.failure(CancellationError()))
        }.get()
    }

    private func serve(
        _ request: HTTPRequest, _ life: Life, _ power: Power
    ) async -> Result<TransportResponse, any Error> {
        guard power.isOn else { return .failure(PowerCut()) }
        let call = request.path.flatMap { Int($0.dropFirst()) } ?? 0
        guard let token = request.headerFields[.authorization].flatMap({ TokenName($0.dropFirst("Bearer ".count)) })
        else { return .success(response(200)) }
        // What counts is the moment at which it leaves the process, not the one at which it arrives.
        let entry = history.entries.count
        history.add(.request(life, call: call, token, isAccepted: true))
        await pass(delay())
        if goesWrong() {
            return dice.isTrue(inPercent: 50)
                ? .failure(TransportError.connectionLost("reset by peer")) : .success(response(503))
        }
        guard !isGood(token) else { return .success(response(200)) }
        history.refuseRequest(at: entry)
        return .success(response(401))
    }

    private func isGood(_ token: TokenName) -> Bool {
        guard let family = families[token.family], family.isOver == nil, token.number >= family.firstGood,
            token.number < family.issuedAt.count
        else { return false }
        guard let lifetime = script.lifetime else { return true }
        return time.uptime < family.issuedAt[token.number] + .seconds(lifetime)
    }

    private func response(_ status: Int) -> TransportResponse {
        TransportResponse(head: HTTPResponse(status: .init(code: status)), body: ByteStream(Data()))
    }
}
