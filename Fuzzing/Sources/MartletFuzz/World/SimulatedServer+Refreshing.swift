import Martlet
import MartletTesting

extension SimulatedServer {
    func refresh(
        _ tokens: Tokens, decidedAt: Int, by life: Life, _ power: ProcessLife
    ) async throws -> Tokens {
        power.touch()
        guard power.isOn, let token = tokens.refreshToken.flatMap({ TokenName($0.reveal()) }) else { throw PowerCut() }
        let send = history.nextSend()
        history.add(.sends(life, send: send, token, decidedAt: decidedAt))
        let exchange = OneShotResult<Tokens>()
        power.whenOff { exchange.finish(.failure(PowerCut())) }
        // If the client stops waiting, the server may notice the closed connection, or it may continue.
        let ignoresCancellation = script.isSlow && !isCalm && dice.isTrue(inPercent: 60)
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

    /// A failure of the exchange of a refresh token.
    private enum Fault { case unreachable, busy, failure, commitThenFailure, lostResponse, silence, commitThenSilence }

    private func serve(_ token: TokenName, _ send: Int, ignoresCancellation: Bool) async -> Result<
        Tokens, any Error
    > {
        await wait(for: delay())
        guard isReachable else { return fail(send, .offline, "there is no network") }
        var fault: Fault?
        if script.habits.hangs, !isCalm, !ignoresCancellation, dice.isTrue(inPercent: 40) {
            fault = dice.pick([.silence, .commitThenSilence])
        } else if failsNow() {
            fault = dice.pick([.unreachable, .busy, .failure, .commitThenFailure, .lostResponse, .lostResponse])
            if !ignoresCancellation, dice.isTrue(inPercent: 20) { fault = dice.pick([.silence, .commitThenSilence]) }
        }
        switch fault {
        case .unreachable: return fail(send, .connection, "the server is unreachable", isUnsent: true)
        case .busy:
            let wait: Duration? = dice.pick([nil, .zero, .seconds(2), .seconds(120)])
            history.add(.breaks(send: send, "the server is busy (503)", retryAfter: wait))
            return .failure(RefreshError(.status(503), retryAfter: wait, description: "busy"))
        case .failure: return fail(send, .status(500), "the server fails before it has done anything (500)")
        case .silence:
            history.add(.breaks(send: send, "the server never responds", retryAfter: nil))
            return await forever()
        case .commitThenFailure, .lostResponse, .commitThenSilence, nil: break
        }
        let response = commit(token, send)
        await wait(for: delay())
        switch fault {
        case .commitThenFailure: return fail(send, .status(500), "the server fails after the refresh was done (500)")
        case .lostResponse: return fail(send, .connection, "the response is lost")
        case .commitThenSilence:
            history.add(.breaks(send: send, "the response never arrives", retryAfter: nil))
            return await forever()
        default: return response
        }
    }

    /// Waits longer than any refresh does. The client's time limit ends the refresh, and cancelling it ends this task.
    private func forever() async -> Result<Tokens, any Error> {
        try? await time.sleep(until: time.uptime + .seconds(100_000))
        return .failure(CancellationError())
    }

    private func fail(
        _ send: Int, _ kind: RefreshError.Kind, _ reason: String, isUnsent: Bool = false
    ) -> Result<Tokens, any Error> {
        history.add(.breaks(send: send, reason, retryAfter: nil, isUnsent: isUnsent || kind == .offline))
        var error = RefreshError(kind, description: reason)
        if isUnsent { error.mayHaveSpentToken = false }
        return .failure(error)
    }

    private func commit(_ token: TokenName, _ send: Int) -> Result<Tokens, any Error> {
        guard var family = families[token.family] else { return .failure(RefreshRejectedError(code: "invalid_grant")) }
        if family.endReason == nil, token.number == family.current {
            family.current += 1
            family.replacedAt = time.uptime
            family.issuedAt.append(time.uptime)
            families[token.family] = family
            history.add(.commits(send: send, token.next))
            return .success(tokens(token.next))
        }
        // The client counts the grace period from its first request, the server from the later replacement.
        if family.endReason == nil, token.number == family.current - 1, let replacedAt = family.replacedAt,
            time.uptime - replacedAt <= script.grace, script.grace > .zero
        {
            history.add(.repeats(send: send, token.next))
            return .success(tokens(token.next))
        }
        let reason = family.endReason ?? .spent
        history.add(.refuses(send: send, reason))
        if script.endsReusedSessions { end(token.family, .withdrawn) }
        return .failure(RefreshRejectedError(code: "invalid_grant"))
    }
}
