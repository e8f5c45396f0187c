@testable import Martlet
@testable import MartletTesting

/// The limits of a search.
struct Bounds {
    var waiting = 1
    var families = 2
    var exchanges = 2
}

// MARK: - Possible choices

extension World {
    /// The choices that are possible now. Each is listed once, because callers in the same situation are
    /// interchangeable.
    func choices(_ bounds: Bounds) -> [Choice] {
        var choices: [Choice] = []
        if !disk.operations.isEmpty { addOutcomes(&choices) }
        for (index, exchange) in server.exchanges.enumerated() { addOutcomes(of: exchange, at: index, &choices) }
        addCalls(bounds, &choices)
        if !clock.deadlines.isEmpty { choices.append(.timerFires) }
        if nextInstant != nil { choices.append(.timePasses) }
        choices += [
            .restarts(commits: false, spends: false), .restarts(commits: true, spends: false),
            .restarts(commits: false, spends: true),
        ].filter(isPossible)
        if disk.record != nil, !disk.isDamaged { choices.append(.recordIsDamaged) }
        if setting.isShared { addOthers(bounds, &choices) }
        let overtaking = choices.filter(\.mayOvertake)
        for first in choices where first.isResumption {
            for steps in 0..<Self.overtakenSteps {
                choices += overtaking.map { .overtaken(first, by: $0, after: steps) }
            }
        }
        return choices
    }

    /// Whether the process waits for its store, the lock or its server.
    var isBusy: Bool { !disk.operations.isEmpty || !server.exchanges.isEmpty || !disk.lockWaiters.isEmpty }

    private func addOutcomes(_ choices: inout [Choice]) {
        switch disk.operations[0] {
        case .read: choices += [.store(.works), .store(.isUnavailable)]
        case .update(let decide, _):
            choices += [.store(.works), .store(.isUnavailable)]
            // A change that keeps the record cannot fail.
            if decide(disk.reading) != .keep { choices += [.store(.cannotWrite), .store(.failsAfterCommit)] }
        }
    }

    private func addOutcomes(of exchange: SearchServer.Exchange, at index: Int, _ choices: inout [Choice]) {
        // The process no longer waits for this response, so only new tokens matter.
        if exchange.isAbandoned { return choices.append(.server(index, .answers)) }
        let outcomes: [SearchServer.Outcome] =
            server.accepts(exchange.token)
            ? SearchServer.Outcome.allCases : [.answers, .isBusy, .asksToWait, .isOffline, .losesRequest]
        choices += outcomes.map { .server(index, $0) }
    }

    private func addCalls(_ bounds: Bounds, _ choices: inout [Choice]) {
        let kinds = Set(life.waiting.map(\.kind))
        if life.waiting.count < bounds.waiting + (kinds.contains(.signOut) ? 1 : 0) {
            choices += [.asks(.token), .asks(.lastingToken), .asks(.forced)]
            for which in Choice.Held.allCases where life.held(which) != nil {
                choices.append(.asks(.replacement(which)))
            }
            // Unless the newest token was rejected, a probing caller is like any other.
            if setting.hasProbes, let token = life.held(.newest)?.name,
                rules[token.family].rejected.contains(token.number)
            {
                choices.append(.asks(.probing))
            }
        }
        if life.probe != nil { choices.append(.acceptsProbe) }
        if life.held(.newest) != nil { choices.append(.reportsRejection) }
        if server.families.count < bounds.families, !kinds.contains(.signIn) || bounds.waiting > 1 {
            choices.append(.signsIn)
        }
        if !kinds.contains(.signOut) { choices.append(.signsOut) }
        for kind in kinds.sorted(by: { $0.rawValue < $1.rawValue }) { choices.append(.isCancelled(kind)) }
    }

    private func isPossible(_ choice: Choice) -> Bool {
        guard case .restarts(let commits, let spends) = choice else { return true }
        if commits {
            guard case .update(let decide, _)? = disk.operations.first else { return false }
            return decide(disk.reading) != .keep
        }
        return !spends || server.exchanges.contains { server.accepts($0.token) }
    }

    private func addOthers(_ bounds: Bounds, _ choices: inout [Choice]) {
        let isProcessLocked = if case .process = disk.holder { true } else { false }
        if disk.record != nil, !disk.isDamaged {
            if !isProcessLocked, setting.hasRefreshToken { choices.append(.anotherProcessRefreshes) }
            choices.append(.anotherProcessSignsOut)
        }
        if server.families.count < bounds.families { choices.append(.anotherProcessSignsIn) }
        if disk.hasUnreadChange, disk.changes != nil { choices.append(.changeIsReported) }
        if disk.holder == nil { choices.append(.anotherProcessLocks) }
        if disk.holder == .other { choices.append(.anotherProcessUnlocks) }
        if isProcessLocked { choices.append(.lockIsLost) }
        if !disk.isLockBroken { choices.append(.lockBreaks) }
    }

    /// The next instant at which a token is about to expire or has expired, or a backoff is over.
    var nextInstant: Duration? {
        var instants = [backoffEnd]
        if let family = server.families.indices.last(where: { server.families[$0].end == nil }),
            let expiry = server.expiry(of: TokenName(family: family + 1, number: server.families[family].current))
        {
            instants += [expiry - .seconds(30), expiry + .seconds(1)]
        }
        return instants.filter { $0 > clock.uptime }.min()
    }
}

// MARK: - Performing a choice

extension World {
    func perform(_ choice: Choice) {
        switch choice {
        case .asks(let ask): life.ask(ask, of: owner)
        case .reportsRejection:
            if let token = life.held(.newest) { rules[token.name.family].rejected.insert(token.name.number) }
            life.reportRejection()
        case .acceptsProbe: acceptProbe()
        case .signsIn: signIn()
        case .signsOut: signOut()
        case .isCancelled(let kind): life.waiting.first { $0.kind == kind }?.task?.cancel()
        case .store(let outcome):
            completeOperation(outcome)
        case .server(let index, let outcome):
            // A faulty engine may not have sent what the start of a search expects.
            guard server.exchanges.indices.contains(index) else { return }
            complete(server.exchanges.remove(at: index), outcome)
        case .timerFires:
            guard let next = clock.deadlines.min() else { return }
            advance(to: next)
        case .timePasses:
            if let instant = nextInstant { advance(to: instant) }
        case .recordIsDamaged:
            disk.isDamaged = true
        case .restarts(let commits, let spends): restart(commits: commits, spends: spends)
        case .overtaken(let first, let second, let steps):
            perform(first)
            _ = scheduler.runJobs(atMost: steps)
            overtake(with: second)
        case .anotherProcessRefreshes, .anotherProcessSignsOut, .anotherProcessSignsIn, .changeIsReported,
            .anotherProcessLocks, .anotherProcessUnlocks, .lockIsLost, .lockBreaks:
            performElsewhere(choice)
        }
        if case .asks(.replacement(let which)) = choice, let token = life.held(which) {
            rules[token.name.family].rejected.insert(token.name.number)
        }
    }

    private func acceptProbe() {
        if let token = life.probe?.token.name { rules[token.family].rejected.remove(token.number) }
        life.acceptProbe()
    }

    private func signIn() {
        rules.userEndsSessions()
        let token = server.signIn()
        rules.addFamily()
        rules.startingFamily = token.family
        life.signIn(with: server.tokens(token), family: token.family)
    }

    private func signOut() {
        rules.userEndsSessions()
        rules.hasSignOutTrouble = false
        clock.userActions += 1
        life.signOut(of: rules.startingFamily ?? visibleFamily)
        rules.startingFamily = nil
    }

    private func overtake(with choice: Choice) {
        let before = visibleFamily
        let isAtRest = scheduler.overtake(atMost: Self.jobLimit) { perform(choice) }
        if visibleFamily != before { rules.overtakenFamily = before }
        if !isAtRest { violate(.everyPathEnds, "the engine does not come to rest") }
    }

    func completeOperation(_ outcome: SearchDisk.Outcome) {
        rules.storeEnded(hasFailed: outcome != .works)
        disk.complete(outcome)
    }

    private func complete(_ exchange: SearchServer.Exchange, _ outcome: SearchServer.Outcome) {
        let family = exchange.token.family
        switch outcome {
        case .losesRequest, .losesResponse: rules[family].isInDoubt = true
        case .answers, .refuses, .isBusy, .asksToWait, .isOffline: break
        }
        if outcome != .answers, outcome != .refuses {
            backoffEnd = clock.uptime + (outcome == .asksToWait ? SearchServer.retryAfter : .seconds(64))
        }
        let isAlive = server[family].end == nil
        let answer = server.complete(exchange, outcome)
        if isAlive, server[family].end == .reuse {
            let number = exchange.token.number
            rules[family].hasHiddenReuse =
                exchange.isAbandoned || !hasLock || rules[family].unjournaled.contains(number)
                || rules[family].knownSpent.contains(number)
        }
        if answer.received != nil { rules[family].knownSpent.insert(exchange.token.number) }
        if answer.isRefused { rules[family].isRefused = true }
    }

    /// Advances the clock, and wakes the sleeping tasks one after another.
    func advance(to instant: Duration) {
        // A time limit may end an operation that waits.
        if !disk.operations.isEmpty || !disk.lockWaiters.isEmpty { rules.storeEnded(hasFailed: true) }
        var rounds = 0
        while !clock.advance(to: instant), rounds < 100 {
            settle()
            rounds += 1
        }
        settle()
        for exchange in server.exchanges where exchange.isAbandoned { rules[exchange.token.family].isInDoubt = true }
    }

    private func performElsewhere(_ choice: Choice) {
        switch choice {
        case .anotherProcessRefreshes: refreshElsewhere()
        case .anotherProcessSignsOut:
            guard let record = disk.record, let token = TokenName(record.tokens.accessToken) else { return }
            rules.endElsewhere()
            if server[token.family].end == nil { server[token.family].end = .signedOutElsewhere }
            endElsewhere(record, nil)
        case .anotherProcessSignsIn:
            rules.endElsewhere()
            let token = server.signIn()
            rules.addFamily(isEndedByUser: life.waiting.contains { $0.kind == .signOut })
            rules[token.family].hasStarted = true
            changeElsewhere(record(of: token))
        case .changeIsReported:
            disk.hasUnreadChange = false
            disk.changes?.yield()
        case .anotherProcessLocks: disk.holder = .other
        case .anotherProcessUnlocks: disk.releaseLock(of: .other)
        case .lockIsLost:
            noteLostLock()
            if case .process = disk.holder { disk.releaseLock(of: disk.holder ?? .other) }
        case .lockBreaks: disk.isLockBroken = true
        default: break
        }
    }

    /// From now on, another process may send the token that this one has sent.
    private func noteLostLock() {
        for exchange in server.exchanges { rules[exchange.token.family].isInDoubt = true }
        if let session = life.tokens.machine.session, session.isStoring || session.pendingExpiry != nil,
            let token = TokenName(session.record.tokens.accessToken)
        {
            rules[token.family].isInDoubt = true
        }
    }

    /// Lets another process spend the stored refresh token and store the new tokens.
    private func refreshElsewhere() {
        guard var record = disk.record, let old = TokenName(record.tokens.refreshToken) else { return }
        if let token = server.spend(old) {
            record.tokens = server.tokens(token)
            record.rotation += 1
            record.estimatedExpiry = estimatedExpiry(of: token)
            record.journal = nil
            changeElsewhere(record)
            if server.exchanges.allSatisfy(\.isAbandoned) { rules[old.family].isInDoubt = false }
        } else {
            if record.unresolvedJournal != nil { rules[old.family].isInDoubt = true }
            rules.endElsewhere()
            endElsewhere(record, record.unresolvedJournal == nil ? .refreshTokenRejected(code: nil) : .rotationLost)
        }
    }

    private func endElsewhere(_ record: StoredSession, _ reason: ExpiryReason?) {
        disk.end(record, reason)
        disk.hasUnreadChange = true
    }

    private func changeElsewhere(_ record: StoredSession?) {
        disk.record = record
        disk.hasUnreadChange = true
        if let record { rules.learn(record) }
    }
}
