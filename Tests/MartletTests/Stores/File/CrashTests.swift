// Only on platforms that can start processes.
#if os(macOS) || os(Linux)
    import Foundation
    import MartletTesting
    import Testing

    @testable import Martlet

    @testable import MartletStorage

    /// A token server whose state is a file, so that it outlives the process that uses it.
    ///
    /// Refresh tokens are numbered. Each is valid once, and reusing one ends the session.
    private struct FileServer: Sendable {
        let path: String

        var issued: Int { (try? String(contentsOfFile: path, encoding: .utf8)).flatMap { Int($0) } ?? 0 }

        func tokens(_ number: Int) -> Tokens {
            Tokens(accessToken: Secret("access-\(number)"), refreshToken: Secret("refresh-\(number)"))
        }

        /// - Parameter grantsGrace: Whether the server accepts the previous token as well.
        func manager(_ store: any TokenStore, grantsGrace: Bool = false) -> TokenManager {
            var policy = SessionPolicy()
            policy.lockLease = .seconds(1)
            if grantsGrace { policy.rotationGrace = .seconds(60) }
            return TokenManager(
                baseURL: "https://api.example.com", store: store,
                refresher: .custom { former, _ in
                    let good = [issued, grantsGrace ? issued - 1 : issued].map { tokens($0).refreshToken }
                    guard good.contains(former.refreshToken) else { throw RefreshRejectedError() }
                    let next = issued + 1
                    try "\(next)".write(toFile: path, atomically: true, encoding: .utf8)
                    return tokens(next)
                }, policy: policy, transport: StubTransport { _ in .status(404) }, time: ManualTimeSource())
        }
    }

    /// The actions of a process until it is killed.
    private struct ProcessRun: Sendable {
        let folder: String
        var server: FileServer { FileServer(path: folder + "/server") }
        var record: String { folder + "/session.json" }

        /// The progress of a process, kept in a file. Everything that the app was told by then must hold after a crash.
        enum Phase: String {
            case signingIn
            case signedIn
            case signingOut
        }

        var phase: Phase? {
            (try? String(contentsOfFile: folder + "/phase", encoding: .utf8)).flatMap(Phase.init)
        }

        private func begin(_ phase: Phase) throws {
            try phase.rawValue.write(toFile: folder + "/phase", atomically: true, encoding: .utf8)
        }

        /// Signs in, refreshes the tokens twice and signs out.
        func run(_ reached: @escaping @Sendable (FileSteps.Step) -> Void) async throws {
            // The second refresh may try the lock a moment before the first one has released it, so the store uses the
            // system clock: a manual clock would wait forever.
            let store = FileTokenStore(
                path: record, time: .system, activities: nil, steps: FileSteps(reached: reached))
            let tokens = server.manager(store)
            try begin(.signingIn)
            try await tokens.signIn(with: server.tokens(0))
            try begin(.signedIn)
            try await tokens.refresh()
            try await tokens.refresh()
            try begin(.signingOut)
            await tokens.signOut()
        }

        /// Refreshes the tokens while another process is stopped for good in the middle of its refresh.
        func runBesideStopped(_ reached: @escaping @Sendable (FileSteps.Step) -> Void) async throws {
            try await FileTokenStore(path: record).write(StoredSession(id: SessionID(), tokens: server.tokens(0)))
            try begin(.signedIn)
            let time = ManualTimeSource()
            let stopped = try await ProcessLock(path: record + ".refresh.lock").acquire(lease: .seconds(45))
            let store = FileTokenStore(
                path: record, time: time, activities: nil, steps: FileSteps(reached: reached))
            let tokens = server.manager(store)
            try await time.running { _ = try await tokens.refresh() }
            stopped.release()
        }

        /// Counts steps, and kills the process at one of them.
        static func killing(at step: Int) -> @Sendable (FileSteps.Step) -> Void {
            let count = Locked(0)
            return { _ in
                let number = count.withLock {
                    $0 += 1
                    return $0
                }
                if number == step { kill(getpid(), SIGKILL) }
            }
        }
    }

    @Suite("Killed processes", .timeLimit(.minutes(10))) struct CrashTests {
        @Test("a write is flushed before it is renamed into place, so that a reported write is on the disk")
        func order() async throws {
            try await TemporaryFolder.with { folder in
                let steps = Locked<[FileSteps.Step]>([])
                let store = FileTokenStore(
                    path: folder.path + "/session.json", time: ManualTimeSource(), activities: nil,
                    steps: FileSteps { step in steps.withLock { $0.append(step) } })
                try await store.write(StoredSession(id: SessionID(), tokens: .fresh()))
                #expect(
                    steps.withLock { $0 } == [
                        .locked, .lockSigned, .temporaryMade, .written, .flushed, .renamed, .folderFlushed,
                    ])
                steps.withLock { $0 = [] }
                try await store.delete()
                #expect(steps.withLock { $0 } == [.locked, .lockSigned, .unlinked, .folderFlushed])
            }
        }

        /// The number of steps of a process. The tests below kill it at each of them.
        private static let stepCount = 48
        private static let stepCountBesideStopped = 16

        @Test("the number of steps is as expected") func counts() async throws {
            try await TemporaryFolder.with { folder in
                let steps = Locked<[FileSteps.Step]>([])
                try await ProcessRun(folder: folder.path).run { step in steps.withLock { $0.append(step) } }
                #expect(steps.withLock { $0.count } == Self.stepCount, "\(steps.withLock { $0 })")
            }
            try await TemporaryFolder.with { folder in
                let steps = Locked<[FileSteps.Step]>([])
                try await ProcessRun(folder: folder.path).runBesideStopped { step in steps.withLock { $0.append(step) }
                }
                #expect(steps.withLock { $0.count } == Self.stepCountBesideStopped, "\(steps.withLock { $0 })")
            }
        }

        @Test(
            "C22: a process killed at any step leaves a complete record, and the next launch continues",
            arguments: 1...stepCount)
        func killed(step: Int) async throws {
            try await TemporaryFolder.with { folder in
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = folder.path as String, step = step as Int] in
                    try await ProcessRun(folder: path).run(ProcessRun.killing(at: step))
                }
                try await expectRecovery(ProcessRun(folder: folder.path))
            }
        }

        @Test(
            "C26: a process can be killed at any step of taking over a stopped process's lock",
            arguments: 1...stepCountBesideStopped)
        func killedBesideStopped(step: Int) async throws {
            try await TemporaryFolder.with { folder in
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = folder.path as String, step = step as Int] in
                    try await ProcessRun(folder: path).runBesideStopped(ProcessRun.killing(at: step))
                }
                try await expectRecovery(ProcessRun(folder: folder.path))
            }
        }

        @Test(
            "the temporary file of a process killed while it reports a change is removed at the next write or sign-out",
            arguments: 1...3, [false, true])
        func killedWhileReporting(step: Int, signsOut: Bool) async throws {
            try await TemporaryFolder.with { folder in
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = folder.path as String, step = step as Int] in
                    let files = CoordinationFiles(
                        folder: path, key: "session", time: .system, activities: nil,
                        steps: FileSteps(reached: ProcessRun.killing(at: step)))
                    await files.reportChange()
                }
                #expect(folder.names.filter { $0.hasPrefix(".session.changed.") && $0.hasSuffix(".tmp") }.count == 1)
                let store = SecureTokenStore(storage: InMemoryStorage(), key: "session", folder: folder.path)
                let record = StoredSession(id: SessionID(), tokens: .fresh())
                if signsOut {
                    try await store.update { _ in .end(EndMark(record.position)) }
                } else {
                    try await store.write(record)
                }
                let files = ["session.changed"] + (signsOut ? ["session.ended"] : []) + ["session.lock"]
                #expect(folder.names == files)
            }
        }

        /// Checks the state after a crash. The clock stands still, so a lock that is not free would be waited for
        /// forever.
        private func expectRecovery(_ run: ProcessRun) async throws {
            let store = FileTokenStore(path: run.record, time: ManualTimeSource(), activities: nil)
            let reading = await store.read()
            let issued = run.server.issued
            let tokens = run.server.manager(store)
            let events = tokens.events
            switch reading {
            case .unavailable(let failure):
                Issue.record("the record is torn: \(failure)")
            case .empty, .ended:
                #expect(run.phase != .signedIn, "a session was lost without a sign-out")
                #expect(await tokens.restore() == .signedOut)
            case .found(let record) where record.tokens == run.server.tokens(issued):
                #expect(record.rotation == issued)
                #expect(await tokens.restore().isSignedIn)
                try await tokens.refresh()
                #expect(run.server.issued == issued + 1)
                #expect(await store.read() == .found(record.renewed(run.server.tokens(issued + 1))))
                #expect(await reportsInterruptedRefresh(events) == (record.unresolvedJournal != nil))
            case .found(let record):
                // The server has responded, and the response died with the process. The journal shows this, so the
                // error is `rotationLost`.
                #expect(record.tokens == run.server.tokens(issued - 1) && record.unresolvedJournal != nil)
                #expect(record.rotation == issued - 1)
                try await expectGrace(run, record)
                await #expect(throws: SessionError.expired(.rotationLost)) { try await tokens.refresh() }
                #expect(await reportsInterruptedRefresh(events))
                #expect(await store.read().isEmpty)
            }
            try await tokens.signIn(with: run.server.tokens(run.server.issued))
            let names = try FileManager.default.contentsOfDirectory(atPath: run.folder)
            #expect(!names.contains { $0.hasPrefix(".session.json.") && !$0.contains(".lock.") }, "\(names)")
        }

        /// Checks the same record with a server that still accepts the replaced token.
        private func expectGrace(_ run: ProcessRun, _ record: StoredSession) async throws {
            try await TemporaryFolder.with { folder in
                try FileManager.default.copyItem(atPath: run.record, toPath: folder.path + "/session.json")
                try "\(run.server.issued)".write(toFile: folder.path + "/server", atomically: true, encoding: .utf8)
                let run = ProcessRun(folder: folder.path)
                let store = FileTokenStore(path: run.record, time: ManualTimeSource(), activities: nil)
                let tokens = run.server.manager(store, grantsGrace: true)
                let events = tokens.events
                try await tokens.refresh()
                #expect(await reportsInterruptedRefresh(events))
                #expect(await store.read() == .found(record.renewed(run.server.tokens(run.server.issued))))
            }
        }

        /// Whether an interrupted refresh is reported before the next refresh ends.
        private func reportsInterruptedRefresh(_ events: AsyncStream<SessionEvent>) async -> Bool {
            for await event in events {
                switch event {
                case .refreshInterrupted: return true
                case .refreshSucceeded, .expired: return false
                default: continue
                }
            }
            return false
        }
    }

    extension StoredSession {
        fileprivate func renewed(_ tokens: Tokens) -> StoredSession {
            var record = self
            record.tokens = tokens
            record.rotation += 1
            record.journal = nil
            return record
        }
    }
#endif
