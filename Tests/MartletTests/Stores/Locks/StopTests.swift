// Only on platforms that can start processes.
#if os(macOS) || os(Linux)
    import Foundation
    import MartletTesting
    import Testing

    @testable import Martlet

    @testable import MartletStorage

    /// A process that stops in the middle of a refresh until it is resumed.
    private struct Sleeper: Sendable {
        let folder: String
        var record: String { folder + "/session.json" }

        func refresh(_ reached: @escaping @Sendable (FileSteps.Step) -> Void) async throws {
            let store = FileTokenStore(
                path: record, time: ManualTimeSource(), activities: nil, steps: FileSteps(reached: reached))
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: store, refresher: .custom { _, _ in .fresh(1) },
                transport: StubTransport { _ in .status(404) }, time: ManualTimeSource())
            try await tokens.refresh()
        }

        /// Counts steps, and stops the process at one of them.
        func stopping(at step: Int) -> @Sendable (FileSteps.Step) -> Void {
            let count = Locked(0)
            return { [folder] _ in
                let number = count.withLock {
                    $0 += 1
                    return $0
                }
                guard number == step else { return }
                _ = try? PrivateFile(path: folder + "/stopped").replace(with: Data("\(getpid())".utf8), if: { true })
                // Signals this thread, so that it does not run on before the whole process stops.
                pthread_kill(pthread_self(), SIGSTOP)
            }
        }

        /// Waits until the process has stopped.
        func stopped() throws -> pid_t {
            let process = try #require(pid_t(String(contentsOfFile: folder + "/stopped", encoding: .utf8)))
            var info = siginfo_t()
            try #require(waitid(P_PID, id_t(process), &info, WSTOPPED | WNOWAIT) == 0)
            return process
        }

        /// Takes over the lock and writes a record, as another process does during a stop.
        func overtake(with session: StoredSession) throws {
            let lock = FileLock(path: record + ".lock", steps: .unobserved)
            let claim =
                switch try lock.attempt() {
                case .acquired(let claim): claim
                case .busy(let holder): try #require(try lock.takeAway(from: holder))
                }
            defer { claim.release() }
            let bytes = try session.encoded()
            #expect(try PrivateFile(path: record).replace(with: bytes, if: { claim.isValid }))
        }
    }

    @Suite("Stopped processes", .timeLimit(.minutes(10))) struct StopTests {
        /// The number of steps of a refresh. The test below stops it at each of them.
        private static let stepCount = 16

        @Test("the number of steps is as expected") func counts() async throws {
            try await TemporaryFolder.with { folder in
                let sleeper = Sleeper(folder: folder.path)
                try await FileTokenStore(path: sleeper.record).write(StoredSession(id: SessionID(), tokens: .fresh()))
                let steps = Locked<[FileSteps.Step]>([])
                try await sleeper.refresh { step in steps.withLock { $0.append(step) } }
                #expect(steps.withLock { $0.count } == Self.stepCount, "\(steps.withLock { $0 })")
            }
        }

        @Test(
            "C26: a process stopped at any step and resumed later does not undo another process's work",
            arguments: 1...stepCount)
        func stopped(step: Int) async throws {
            try await TemporaryFolder.with { folder in
                let sleeper = Sleeper(folder: folder.path)
                let store = FileTokenStore(path: sleeper.record)
                try await store.write(StoredSession(id: SessionID(), tokens: .fresh()))
                let other = StoredSession(id: SessionID(), tokens: .fresh(7), account: SessionAccount(userID: "bob"))
                let overtaken = Locked<Result<Void, any Error>?>(nil)
                // On its own queue, because waiting for a process may block all threads of the task pool.
                let watch = try FolderWatch(folder.path, reportChangesOf: ["stopped"]) {
                    guard let process = try? sleeper.stopped() else { return }
                    let result = Result { try sleeper.overtake(with: other) }
                    overtaken.withLock { $0 = result }
                    kill(process, SIGCONT)
                }
                defer { watch.cancel() }
                await #expect(processExitsWith: .success) {
                    [path = folder.path as String, step = step as Int] in
                    let sleeper = Sleeper(folder: path)
                    // This may fail, because its session is gone when it resumes.
                    try? await sleeper.refresh(sleeper.stopping(at: step))
                }
                let result = overtaken.withLock { $0 }
                try #require(result, "the process never stopped").get()

                #expect(await store.read() == .found(other))
                try await store.write(other)
                let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                #expect(!names.contains { $0.hasSuffix(".tmp") }, "\(names)")
            }
        }
    }
#endif
