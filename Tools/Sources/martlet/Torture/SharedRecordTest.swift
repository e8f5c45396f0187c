internal import Foundation
internal import Martlet
internal import MartletTesting
internal import ReferenceBackend

/// Runs some of the rounds of a mode, with several worker processes that use one stored session against one backend.
struct SharedRecordTest {
    let mode: TortureMode
    let store: TortureStore
    let settings: TortureSettings
    let progress: TortureProgress
    let backend: ReferenceBackend
    private let folder: String
    let injector: WorkerFaultInjector
    let watch: RecordWatch
    var pool: WorkerPool
    /// The id of the session under test; empty if a worker has to sign in first.
    var session = ""
    /// The faults of the previous round.
    var earlierFaults: [RefreshHistory.Fault] = []
    let conditions: ConditionPlan
    let meter = LatenessMeter()
    let disk: DiskMeter
    /// The server's names for the session under test and for the sessions that have ended.
    var names = (current: Set<String>(), former: Set<String>())
    var violations = 0

    private static let credentials = (email: "ada@example.com", password: "a swift never lands")

    /// Runs rounds with a server, workers and a temporary folder, and removes them afterwards.
    static func run(
        _ rounds: [Int], mode: TortureMode, over store: TortureStore, settings: TortureSettings,
        progress: TortureProgress
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-torture-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let injector = WorkerFaultInjector()
        var configuration = BackendConfiguration.testing(.envelope)
        configuration.rotationGrace = mode.grace
        configuration.onRequest = { injector.requestReached($0) }
        try await ReferenceBackend.withRunning(configuration) { backend in
            var test = SharedRecordTest(
                mode: mode, store: store, settings: settings, progress: progress, backend: backend, folder: folder.path,
                injector: injector)
            let watching = test.watch.start()
            let measuring = Task { [meter = test.meter, disk = test.disk] in
                async let writes: Void = disk.run()
                await meter.run()
                await writes
            }
            defer {
                watching.cancel()
                measuring.cancel()
            }
            do {
                try await test.run(rounds)
            } catch {
                await test.end()
                throw error
            }
            await test.end()
            measuring.cancel()
            await measuring.value
        }
    }

    private init(
        mode: TortureMode, store: TortureStore, settings: TortureSettings, progress: TortureProgress,
        backend: ReferenceBackend, folder: String, injector: WorkerFaultInjector
    ) {
        self.mode = mode
        self.store = store
        self.settings = settings
        self.progress = progress
        self.backend = backend
        self.folder = folder
        disk = DiskMeter(in: folder)
        self.injector = injector
        watch = RecordWatch(store, in: folder) { injector.recordChanged($0) }
        let conditions = settings.conditions(in: mode, over: store)
        self.conditions = conditions
        pool = WorkerPool(timeout: settings.timeout, onStart: { injector.started($0) }) {
            [url = backend.baseURL] name in
            WorkerConfiguration(
                name: name, baseURL: url, store: store, folder: folder, lease: mode.lease(settings.lease),
                grace: mode.grace, timeout: settings.timeout, conditions: conditions.conditions(of: name),
                fault: settings.fault)
        }
    }

    private mutating func end() async {
        await injector.finishRound()
        await pool.killAll()
        let (counts, counters, started) = (injector.counts, backend.controls.counters, pool.started)
        progress.add { figures in
            figures.kills += counts.kills
            figures.stops += counts.stops
            figures.faultsDuringRefresh += counts.duringRefresh
            figures.refreshes += counters.refreshesCalled
            figures.processes += started
        }
    }

    private mutating func run(_ rounds: [Int]) async throws {
        let client = NetworkClient(baseURL: BaseURL(backend.baseURL))
        try await client.send(
            Registration(
                credentials: AccountEndpoint.Credentials(
                    email: Self.credentials.email, password: Self.credentials.password)))
        for round in rounds {
            try Task.checkCancellation()
            if progress.hasSeenEnough { return }
            var random = SeededGenerator(seed: settings.seed, mode.number, round)
            for name in pool.dead where !injector.hasKilled(name) {
                violation(\.otherViolations, "worker \(name) died without being killed", in: round)
            }
            report(hung: try await pool.fill(settings.processes), in: round)
            if session.isEmpty { try await signIn(round, using: &random) }
            try await run(round, using: &random)
            try Task.checkCancellation()
            progress.roundEnded(over: store)
        }
        judgeLateReuses(nil)
        try await signOut(after: rounds.last ?? 0)
    }

    private mutating func signIn(_ round: Int, using random: inout SeededGenerator) async throws {
        while let worker = signInWorker(round, using: &random) {
            judgeLateReuses(round)
            injector.sessionBegan(by: worker.name)
            let outcomes = await pool.ask([worker]) { _ in
                .signIn(email: Self.credentials.email, password: Self.credentials.password)
            }
            try Task.checkCancellation()
            switch outcomes[0].outcome {
            case .report(.signedIn(let session)):
                self.session = session
                return
            case .died where injector.hasKilled(worker.name):
                // It was killed late in the previous round and still looked alive when this round began.
                await worker.waitUntilExited()
                report(hung: try await pool.fill(settings.processes), in: round)
            case let outcome:
                violation(\.otherViolations, "\(worker.name) did not sign in: \(outcome)", in: round)
                throw TortureAborted()
            }
        }
    }

    /// The worker that signs in. It is usually one that cannot watch the record, because such a worker would take
    /// seconds to notice another worker's sign-in.
    private func signInWorker(_ round: Int, using random: inout SeededGenerator) -> WorkerProcess? {
        let worker = pool.workers.randomElement(using: &random)
        if round.isMultiple(of: 16) { return worker }
        return pool.workers.first { $0.isAlive && conditions.conditions(of: $0.name).watchLimit != nil } ?? worker
    }

    private mutating func run(_ round: Int, using random: inout SeededGenerator) async throws {
        let size = Int.random(in: 2...settings.processes, using: &random)
        let workers = Array(pool.workers.shuffled(using: &random).prefix(size))
        let action: WorkerInstruction.Action? = random.chance(0.07) ? .signOut : random.chance(0.3) ? .refresh : nil
        let plans = mode.injectsFaults ? WorkerFaultInjector.Plan.random(for: settings, using: &random) : []
        let instructions = workers.indices.map { index in
            WorkerInstruction.call(
                session: session, count: Int.random(in: 2...5, using: &random),
                pause: .microseconds(Int.random(in: 0...5000, using: &random)), alongside: index == 0 ? action : nil)
        }
        _ = await watch.readNow()
        injector.accessTokensExpire()
        try await backend.controls.expireAccessTokens()
        _ = (meter.take(), disk.take())
        injector.startRound(plans, exempting: action == .signOut ? [workers[0].name] : [])
        let outcomes = await pool.ask(workers) { worker in
            instructions[workers.firstIndex { $0 === worker } ?? 0]
        }
        await injector.finishRound()
        try Task.checkCancellation()
        let violations = violations
        await judge(round, outcomes, action)
        // The violations of one round must not cause violations in the next one.
        if self.violations > violations { try await reset() }
    }

    private mutating func reset() async throws {
        await pool.killAll()
        try await store.reset(in: folder)
        _ = await watch.readNow()
        _ = watch.takeFindings()
        endSession()
    }

    mutating func endSession() {
        names.former.formUnion(names.current)
        names.current = []
        session = ""
    }

    /// Signs out for the last time, which must also remove the temporary files of killed writers. If the last round has
    /// ended without a session, signs in first.
    private mutating func signOut(after round: Int) async throws {
        _ = try await pool.fill(settings.processes)
        var random = SeededGenerator(seed: settings.seed, mode.number, round + 1)
        if session.isEmpty { try await signIn(round, using: &random) }
        let worker = pool.workers[0]
        let outcomes = await pool.ask([worker]) { _ in
            .call(session: session, count: 0, pause: .zero, alongside: .signOut)
        }
        try Task.checkCancellation()
        guard case .report = outcomes[0].outcome else {
            return violation(\.deadlocks, "\(worker.name) did not sign out: \(outcomes[0].outcome)", in: nil)
        }
        let leftovers = try await store.leftovers(in: folder)
        if !leftovers.isEmpty {
            violation(\.otherViolations, "left behind after the last sign-out: \(leftovers)", in: nil)
        }
    }
}

/// Thrown when a mode cannot continue. The violation has been reported already.
struct TortureAborted: Error {}

/// Creates the account that all workers sign in to.
private struct Registration: APIEndpoint {
    let credentials: AccountEndpoint.Credentials
    let path: RequestPath = "/auth/register"
    let method = HTTPRequest.Method.post
    let authentication = AuthenticationRequirement.none
    var body: RequestBody? { .json(credentials) }
}
