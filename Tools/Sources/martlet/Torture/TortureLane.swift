internal import Foundation
internal import Martlet
internal import MartletTesting
internal import ReferenceBackend

/// One record with its server and its crew, and the rounds that are played over it.
struct TortureLane {
    private let mode: TortureMode
    private let settings: TortureSettings
    private let board: TortureBoard
    private let backend: ReferenceBackend
    private let folder: URL
    private let striker: Striker
    private let watch: RecordWatch
    private var crew: Crew
    private var session = ""
    /// How often the server had called a token stolen before this round.
    private var reuseDetections = 0
    private var violations = 0

    private static let credentials = (email: "ada@example.com", password: "a swift never lands")

    /// Plays rounds with everything that they need, and leaves nothing behind.
    static func play(
        _ rounds: [Int], mode: TortureMode, settings: TortureSettings, board: TortureBoard
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-torture-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let striker = Striker()
        var configuration = BackendConfiguration.testing(.envelope)
        configuration.rotationGrace = mode.grace
        configuration.onRequest = { striker.requestMoved($0) }
        try await ReferenceBackend.withRunning(configuration) { backend in
            var lane = TortureLane(
                mode: mode, settings: settings, board: board, backend: backend, folder: folder, striker: striker)
            let watching = lane.watch.start()
            defer { watching.cancel() }
            do {
                try await lane.play(rounds)
            } catch {
                await lane.end()
                throw error
            }
            await lane.end()
        }
    }

    private init(
        mode: TortureMode, settings: TortureSettings, board: TortureBoard, backend: ReferenceBackend, folder: URL,
        striker: Striker
    ) {
        self.mode = mode
        self.settings = settings
        self.board = board
        self.backend = backend
        self.folder = folder
        self.striker = striker
        let record = folder.appending(path: "record/session.json").path
        watch = RecordWatch(path: record) { striker.recordChanged($0) }
        crew = Crew(patience: settings.patience, onStart: { striker.joined($0) }) { [url = backend.baseURL] name in
            WorkerBrief(
                name: name, baseURL: url, record: record, lease: mode.lease(settings.lease), grace: mode.grace,
                patience: settings.patience, hidesLock: settings.hidesLock)
        }
    }

    private mutating func end() async {
        await striker.settle()
        await crew.end()
        let (counts, counters, started) = (striker.counts, backend.controls.counters, crew.started)
        board.add { figures in
            figures.kills += counts.kills
            figures.stops += counts.stops
            figures.strikesInWindow += counts.inWindow
            figures.refreshes += counters.refreshesCalled
            figures.processes += started
        }
    }

    private mutating func play(_ rounds: [Int]) async throws {
        let client = NetworkClient(baseURL: BaseURL(backend.baseURL))
        try await client.send(
            Registration(
                credentials: AccountEndpoint.Credentials(
                    email: Self.credentials.email, password: Self.credentials.password)))
        for round in rounds {
            try Task.checkCancellation()
            if board.hasSeenEnough { return }
            var random = SeededGenerator(
                seed: settings.seed, TortureMode.allCases.firstIndex(of: mode) ?? 0, round)
            for name in crew.dead where !striker.hasKilled(name) {
                violation(\.others, "worker \(name) died, and nobody had killed it", in: round)
            }
            report(hanging: try await crew.fill(settings.processes), in: round)
            if session.isEmpty { try await signIn(round, using: &random) }
            try await play(round, using: &random)
            try Task.checkCancellation()
            board.roundEnded()
        }
        try await close()
    }

    private mutating func signIn(_ round: Int, using random: inout SeededGenerator) async throws {
        while let worker = crew.workers.randomElement(using: &random) {
            striker.sessionBegan()
            let outcomes = await crew.ask([worker]) { _ in
                .signIn(email: Self.credentials.email, password: Self.credentials.password)
            }
            try Task.checkCancellation()
            switch outcomes[0].outcome {
            case .report(.signedIn(let session)):
                self.session = session
                return
            case .gone where striker.hasKilled(worker.name):
                // It was killed so late in the last round that it still looked alive when this one began.
                await worker.waitUntilGone()
                report(hanging: try await crew.fill(settings.processes), in: round)
            case let outcome:
                violation(\.others, "\(worker.name) did not sign in: \(outcome)", in: round)
                throw TortureBroken()
            }
        }
    }

    private mutating func play(_ round: Int, using random: inout SeededGenerator) async throws {
        let size = Int.random(in: 2...settings.processes, using: &random)
        let workers = Array(crew.workers.shuffled(using: &random).prefix(size))
        let deed: WorkerOrder.Deed? = random.chance(0.07) ? .signOut : random.chance(0.3) ? .refresh : nil
        let plans = mode.hasStrikes ? Striker.Plan.some(of: settings, using: &random) : []
        let orders = workers.indices.map { index in
            WorkerOrder.call(
                session: session, count: Int.random(in: 2...5, using: &random),
                pause: .microseconds(Int.random(in: 0...5000, using: &random)), alongside: index == 0 ? deed : nil)
        }
        try await backend.controls.expireAccessTokens()
        striker.arm(plans, sparing: deed == .signOut ? [workers[0].name] : [])
        let outcomes = await crew.ask(workers) { worker in
            orders[workers.firstIndex { $0 === worker } ?? 0]
        }
        await striker.settle()
        try Task.checkCancellation()
        let violations = violations
        await judge(round, outcomes, isSignOut: deed == .signOut)
        // What went wrong in one round must not make the next ones fail.
        if self.violations > violations { try await startAnew() }
    }

    private mutating func startAnew() async throws {
        await crew.end()
        if !session.isEmpty { try FileManager.default.removeItem(at: folder.appending(path: "record")) }
        _ = await watch.look()
        _ = watch.takeFindings()
        session = ""
    }

    /// The last sign-out takes everything along that writers left behind when they were killed.
    private mutating func close() async throws {
        guard !session.isEmpty else { return }
        _ = try await crew.fill(settings.processes)
        let worker = crew.workers[0]
        let outcomes = await crew.ask([worker]) { _ in
            .call(session: session, count: 0, pause: .zero, alongside: .signOut)
        }
        try Task.checkCancellation()
        guard case .report = outcomes[0].outcome else {
            return violation(\.deadlocks, "\(worker.name) did not sign out: \(outcomes[0].outcome)", in: nil)
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "record").path)
        let leftovers = left.filter { $0.hasSuffix(".tmp") || $0 == "session.json" }
        if !leftovers.isEmpty {
            violation(\.others, "left behind after the last sign-out: \(leftovers.sorted())", in: nil)
        }
    }
}

// MARK: - Judging

extension TortureLane {
    private mutating func judge(
        _ round: Int, _ outcomes: [(name: WorkerName, outcome: Crew.Outcome)], isSignOut: Bool
    ) async {
        let stored = await watch.look()?.rawValue
        report(hanging: outcomes.filter { if case .hangs = $0.outcome { true } else { false } }.map(\.name), in: round)
        let tallies = outcomes.compactMap { name, outcome -> (WorkerName, CallTally)? in
            guard case .report(.called(let tally)) = outcome else { return nil }
            if tally.session == session { striker.stored(rotation: tally.rotation) }
            return (name, tally)
        }
        board.add { figures in
            for (_, tally) in tallies { figures.add(tally) }
        }
        judgeRecord(round)
        if stored == session {
            judgeCalls(round, tallies, isSignOut: isSignOut)
            if isSignOut {
                violation(\.others, "somebody signed out, and the record of \(short) is still there", in: round)
            }
        } else {
            if let stored {
                violation(\.others, "the record has session \(stored.prefix(8)), not \(short)", in: round)
            }
            await judgeEnd(round, isAsked: isSignOut)
        }
        let detected = backend.controls.counters.reuseDetected
        let new = detected - reuseDetections
        reuseDetections = detected
        if mode.mayLoseSessions {
            board.add { $0.reuseDetections += new }
        } else {
            for _ in 0..<new {
                violation(\.reuseDetections, "the server saw a spent token come back", in: round)
            }
        }
    }

    private mutating func violation(_ count: WritableKeyPath<TortureFigures, Int>, _ text: String, in round: Int?) {
        violations += 1
        board.violation(count, text, in: round)
    }

    private var short: String { "\(session.prefix(8))" }

    private mutating func report(hanging: [WorkerName], in round: Int) {
        for name in hanging {
            violation(\.deadlocks, "worker \(name) hangs: no report for \(settings.patience)", in: round)
        }
    }

    private mutating func judgeRecord(_ round: Int) {
        let findings = watch.takeFindings()
        board.add { $0.reads += findings.reads }
        for what in findings.torn { violation(\.tornRecords, what, in: round) }
        for what in findings.wentBack { violation(\.wentBack, what, in: round) }
    }

    /// The session goes on, so nobody may think that it is over.
    private mutating func judgeCalls(_ round: Int, _ tallies: [(WorkerName, CallTally)], isSignOut: Bool) {
        for (name, tally) in tallies {
            let ends = tally.failures.filter { CallFailure.all.contains($0.key) }
            if !ends.isEmpty || tally.state != .signedIn(session: session) {
                violation(
                    \.signOutsNotAskedFor,
                    "\(name) takes session \(short) to be over (\(tally.state), calls: \(ends)), and it is not",
                    in: round)
            } else if !tally.failures.isEmpty, !mode.hasStrikes {
                violation(\.others, "calls of \(name) failed: \(tally.failures), \(tally.trouble)", in: round)
            }
        }
    }

    /// The record is gone: everybody must see that, and there must be a reason.
    private mutating func judgeEnd(_ round: Int, isAsked: Bool) async {
        let outcomes = await crew.ask(crew.workers.filter(\.isAlive)) { _ in .leave(session: session) }
        report(hanging: outcomes.filter { if case .hangs = $0.outcome { true } else { false } }.map(\.name), in: round)
        let states = Set(
            outcomes.compactMap { _, outcome -> WorkerState? in
                if case .report(.left(let state)) = outcome { state } else { nil }
            })
        let ended = session
        session = ""
        if isAsked { return board.add { $0.signOuts += 1 } }
        let told = "session \(ended.prefix(8)) is over: \(states.map(\.description).sorted().joined(separator: ", "))"
        guard mode.mayLoseSessions else { return violation(\.signOutsNotAskedFor, told, in: round) }
        let ledger = striker.ledger
        // Whoever was refused may have been killed before it could say so.
        let isRight = states.subtracting([.rotationLost, .signedOut]).isEmpty
        switch ledger.explanation() {
        case .struckBeforeWrite where isRight: board.add { $0.rotationsLost += 1 }
        case .struckBeforeSending where isRight:
            board.add {
                $0.rotationsLost += 1
                $0.sentTooLate += 1
            }
        case let explanation:
            var why = explanation?.account ?? "no strike explains it"
            if explanation == nil, let delay = ledger.delay, delay > settings.lease / 2 {
                why += ", but a worker had \(delay.forPeople) to write its tokens, and did not: if this machine is that"
                why += " busy, try a longer --lease"
            }
            violation(\.signOutsNotAskedFor, "\(told); \(why); \(ledger.account)", in: round)
        }
    }
}

/// The torture cannot go on.
struct TortureBroken: Error {}

private struct Registration: APIEndpoint {
    let credentials: AccountEndpoint.Credentials
    let path = "/auth/register"
    let method = HTTPRequest.Method.post
    let authentication = AuthenticationRequirement.none
    var body: RequestBody? { .json(credentials) }
}

extension RefreshLedger.Strike {
    fileprivate var account: String {
        "\(kind) \(worker) at \(at.forPeople)" + (until.map { " until \($0.forPeople)" } ?? "")
    }
}

extension RefreshLedger.Explanation {
    fileprivate var account: String {
        switch self {
        case .struckBeforeWrite(let strike): "lost by \(strike.account), before the write"
        case .struckBeforeSending(let strike): "lost by \(strike.account), before the sending"
        }
    }
}

extension RefreshLedger {
    /// The last that happened, for a report.
    fileprivate var account: String {
        let refreshes = refreshes.suffix(8).map { refresh in
            "\(refresh.worker) at \(refresh.arrivedAt.forPeople): \(refresh.status.map(String.init) ?? "no answer")"
        }
        let strikes = strikes.suffix(12).map(\.account)
        return "stored rotation \(storedRotation); refreshes: \(refreshes.joined(separator: ", "));"
            + " strikes: \(strikes.joined(separator: ", "))"
    }
}

extension TortureFigures {
    fileprivate mutating func add(_ tally: CallTally) {
        calls += tally.successes + tally.failures.values.reduce(0, +)
        failedCalls += tally.failures.values.reduce(0, +)
        adoptions += tally.adoptions
        replays += tally.replays
        for (reason, count) in tally.failures { reasons["call: \(reason)", default: 0] += count }
        for (reason, count) in tally.trouble { reasons["store: \(reason)", default: 0] += count }
    }
}
