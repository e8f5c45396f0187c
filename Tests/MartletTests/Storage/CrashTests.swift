// Where processes can be started, which iOS does not allow.
#if os(macOS) || os(Linux)
    import Foundation
    import MartletTesting
    import Testing

    @testable import Martlet

    /// A token server whose memory is a file, so that it outlives the process that talks to it.
    ///
    /// Refresh tokens are numbered. Each is good once, and one that comes back ends the session.
    private struct FileServer: Sendable {
        let path: String

        var issued: Int { (try? String(contentsOfFile: path, encoding: .utf8)).flatMap { Int($0) } ?? 0 }

        func tokens(_ number: Int) -> TokenBundle {
            TokenBundle(accessToken: Secret("access-\(number)"), refreshToken: Secret("refresh-\(number)"))
        }

        /// - Parameter grantsGrace: Whether the server takes the token before the last one as well.
        func manager(_ store: any TokenStore, grantsGrace: Bool = false) -> TokenManager {
            var policy = SessionPolicy()
            policy.lockLease = .seconds(1)
            if grantsGrace { policy.rotationGrace = .seconds(60) }
            return TokenManager(
                baseURL: "https://api.example.com", store: store,
                refresher: .custom { bundle, _ in
                    let good = [issued, grantsGrace ? issued - 1 : issued].map { tokens($0).refreshToken }
                    guard good.contains(bundle.refreshToken) else { throw RefreshRejection() }
                    let next = issued + 1
                    try "\(next)".write(toFile: path, atomically: true, encoding: .utf8)
                    return tokens(next)
                }, policy: policy, transport: StubTransport { _ in .status(404) }, time: ManualTimeSource())
        }
    }

    /// What a process does until it is killed.
    private struct Life: Sendable {
        let folder: String
        var server: FileServer { FileServer(path: folder + "/server") }
        var record: String { folder + "/session.json" }

        /// How far a life has come, in a file: what was promised to the app by then must hold.
        enum Chapter: String {
            case signingIn
            case signedIn
            case signingOut
        }

        var chapter: Chapter? {
            (try? String(contentsOfFile: folder + "/chapter", encoding: .utf8)).flatMap(Chapter.init)
        }

        private func begin(_ chapter: Chapter) throws {
            try chapter.rawValue.write(toFile: folder + "/chapter", atomically: true, encoding: .utf8)
        }

        /// Signs in, renews the tokens twice and signs out.
        func lead(_ reached: @escaping @Sendable (FileSteps.Step) -> Void) async throws {
            // The second refresh may come to the lock a moment before the first has given it back, and must not wait for a
            // clock that stands still.
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

        /// Renews the tokens after another process has stopped for good in the middle of that.
        func leadBesideStopped(_ reached: @escaping @Sendable (FileSteps.Step) -> Void) async throws {
            try await FileTokenStore(path: record).write(StoredSession(id: SessionID(), bundle: server.tokens(0)))
            try begin(.signedIn)
            let time = ManualTimeSource()
            let stopped = try await ProcessLock(path: record + ".refresh.lock").acquire(lease: .seconds(45))
            let store = FileTokenStore(
                path: record, time: time, activities: nil, steps: FileSteps(reached: reached))
            let tokens = server.manager(store)
            try await time.running { try await tokens.refresh() }
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

    @Suite("A process that is killed") struct CrashTests {
        @Test("finds what it has said to be stored on the disk: the bytes are flushed before they get their name")
        func order() async throws {
            try await TemporaryFolder.with { folder in
                let steps = Locked<[FileSteps.Step]>([])
                let store = FileTokenStore(
                    path: folder.path + "/session.json", time: ManualTimeSource(), activities: nil,
                    steps: FileSteps { step in steps.withLock { $0.append(step) } })
                try await store.write(StoredSession(id: SessionID(), bundle: .fresh()))
                #expect(
                    steps.withLock { $0 } == [
                        .locked, .lockSigned, .temporaryMade, .written, .flushed, .renamed, .folderFlushed,
                    ])
                steps.withLock { $0 = [] }
                try await store.delete()
                #expect(steps.withLock { $0 } == [.locked, .lockSigned, .unlinked, .folderFlushed])
            }
        }

        /// How many steps a life has; the tests below walk through all of them.
        private static let stepCount = 43
        private static let stepCountBesideStopped = 16

        @Test("has this many steps to be killed at") func counts() async throws {
            try await TemporaryFolder.with { folder in
                let steps = Locked<[FileSteps.Step]>([])
                try await Life(folder: folder.path).lead { step in steps.withLock { $0.append(step) } }
                #expect(steps.withLock { $0.count } == Self.stepCount, "\(steps.withLock { $0 })")
            }
            try await TemporaryFolder.with { folder in
                let steps = Locked<[FileSteps.Step]>([])
                try await Life(folder: folder.path).leadBesideStopped { step in steps.withLock { $0.append(step) } }
                #expect(steps.withLock { $0.count } == Self.stepCountBesideStopped, "\(steps.withLock { $0 })")
            }
        }

        @Test(
            "C22: leaves a whole record at whatever step it dies, and the next start goes on", arguments: 1...stepCount)
        func killed(step: Int) async throws {
            try await TemporaryFolder.with { folder in
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = folder.path as String, step = step as Int] in
                    try await Life(folder: path).lead(Life.killing(at: step))
                }
                try await expectRecovery(Life(folder: folder.path))
            }
        }

        @Test(
            "C26: can die at any step of taking a lock from one that is stopped", arguments: 1...stepCountBesideStopped)
        func killedBesideStopped(step: Int) async throws {
            try await TemporaryFolder.with { folder in
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = folder.path as String, step = step as Int] in
                    try await Life(folder: path).leadBesideStopped(Life.killing(at: step))
                }
                try await expectRecovery(Life(folder: folder.path))
            }
        }

        /// The clock stands still here: a lock that was not free would be waited for for ever.
        private func expectRecovery(_ life: Life) async throws {
            let store = FileTokenStore(path: life.record, time: ManualTimeSource(), activities: nil)
            let reading = await store.read()
            let issued = life.server.issued
            let tokens = life.server.manager(store)
            let events = tokens.events
            switch reading {
            case .unavailable(let failure):
                Issue.record("the record is torn: \(failure)")
            case .empty:
                #expect(life.chapter != .signedIn, "a session was lost that nobody has ended")
                #expect(await tokens.restore() == .signedOut)
            case .found(let record) where record.bundle == life.server.tokens(issued):
                #expect(record.rotation == issued)
                #expect(await tokens.restore().isSignedIn)
                try await tokens.refresh()
                #expect(life.server.issued == issued + 1)
                var renewed = record.renewed(life.server.tokens(issued + 1))
                // Who was killed may have sent the token that bought it, too.
                if let doubt = record.doubt { renewed = renewed.doubted(since: doubt.startedAt) }
                #expect(await store.read() == .found(renewed))
                #expect(await saysCutShort(events) == (record.doubt != nil))
            case .found(let record):
                // The server has answered, and the answer died with the process: that is known, and called by its name.
                #expect(record.bundle == life.server.tokens(issued - 1) && record.doubt != nil)
                #expect(record.rotation == issued - 1)
                try await expectGrace(life, record)
                await #expect(throws: SessionError.expired(.rotationLost)) { try await tokens.refresh() }
                #expect(await saysCutShort(events))
                #expect(await store.read() == .empty)
            }
            try await tokens.signIn(with: life.server.tokens(life.server.issued))
            let names = try FileManager.default.contentsOfDirectory(atPath: life.folder)
            #expect(!names.contains { $0.hasPrefix(".session.json.") && !$0.contains(".lock.") }, "\(names)")
        }

        /// The same record where the server still takes the token that it has replaced.
        private func expectGrace(_ life: Life, _ record: StoredSession) async throws {
            try await TemporaryFolder.with { folder in
                try FileManager.default.copyItem(atPath: life.record, toPath: folder.path + "/session.json")
                try "\(life.server.issued)".write(toFile: folder.path + "/server", atomically: true, encoding: .utf8)
                let life = Life(folder: folder.path)
                let store = FileTokenStore(path: life.record, time: ManualTimeSource(), activities: nil)
                let tokens = life.server.manager(store, grantsGrace: true)
                let events = tokens.events
                try await tokens.refresh()
                #expect(await saysCutShort(events))
                #expect(await store.read() == .found(record.renewed(life.server.tokens(life.server.issued))))
            }
        }

        /// Whether a refresh was found to have been cut short, in a life that ends with another one.
        private func saysCutShort(_ events: AsyncStream<SessionEvent>) async -> Bool {
            for await event in events {
                switch event {
                case .refreshWasCutShort: return true
                case .refreshSucceeded, .expired: return false
                default: continue
                }
            }
            return false
        }
    }

    extension StoredSession {
        fileprivate func renewed(_ bundle: TokenBundle) -> StoredSession {
            var record = self
            record.bundle = bundle
            record.rotation += 1
            record.journal = nil
            return record
        }
    }
#endif
