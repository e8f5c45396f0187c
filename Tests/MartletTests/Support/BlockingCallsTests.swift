import Foundation
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("Calls that may block", .timeLimit(.minutes(10))) struct BlockingCallsTests {
    #if DEBUG
        @Test("a call of a task is found, and a call of a queue is not") func tasks() async {
            #expect(await FoundCalls.ofTasks { _ = Disk.exists("/") } == ["access"])
            #expect(await FoundCalls.ofTasks { await Task { _ = Disk.exists("/") }.value } == ["access"])
            #expect(await FoundCalls.ofTasks { _ = await BlockingQueue.run { Disk.exists("/") } } == [])
        }

        @Test("a call of a detached task is found, and one that a test makes itself is not") func detachedTasks() async
        {
            let found = FoundCalls()
            found.add("stat", isUnderLock: false)
            await Task.detached { found.add("open", isUnderLock: false) }.value
            #expect(found.ofNoTest.withLock { $0 } == ["open"])
        }

        @Test("a call under a lock is found on any thread") func locks() async {
            let (lock, found) = (Locked(()), FoundCalls())
            await BlockingQueue.run {
                lock.withLock { _ in #expect(BlockingCalls.heldLocks.value == 1) }
                #expect(BlockingCalls.heldLocks.value == 0)
            }
            found.add("open", isUnderLock: true)
            #expect(found.ofNoTest.withLock { $0 } == ["open"])
        }
    #endif

    @Test("a session is stored, refreshed with a lock and deleted without a blocking call of a task", .noBlockingCalls)
    func session() async throws {
        try await TemporaryFolder.with { folder in
            let locked = SecureTokenStore(storage: InMemoryStorage(), key: "session", folder: folder.path)
            for store in [FileTokenStore(path: folder.path + "/session.json"), locked] as [any TokenStore] {
                let app = try await App.signedIn(store: store)
                try await app.tokens.refresh()
                app.backend.invalidateAccessTokens()
                try await app.client.send(Get("/me"))
                #expect(app.backend.refreshCalls == 2)
                await app.tokens.signOut()
                #expect(await store.read().isEmpty)
            }
        }
    }

    @Test("a store's decision, which runs in no task, checks on the disk whether a lock is held", .noBlockingCalls)
    func decisions() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path
            let record = StoredSession(id: SessionID(), tokens: .fresh())
            let locked = SecureTokenStore(storage: InMemoryStorage(), key: "session", folder: path)
            for store in [FileTokenStore(path: path + "/session.json"), locked, StoreWithDefaults(base: locked)]
                as [any TokenStore]
            {
                let held = try #require(try await store.refreshLock?.acquire(lease: .seconds(45)))
                let isHeld = Locked<[Bool]>([])
                for update in [StoreUpdate.keep, .write(record), .delete] {
                    try await store.update { _ in
                        let isHeldNow = held.isHeld
                        isHeld.withLock { $0.append(isHeldNow) }
                        return update
                    }
                }
                held.release()
                #expect(isHeld.withLock { $0 } == [true, true, true])
                #expect(!held.isHeld)
            }
        }
    }

    @Test("a decision of a store without a folder runs in no task either", .noBlockingCalls)
    func unlockedDecision() async throws {
        try await TemporaryFolder.with { folder in
            let held = try await ProcessLock(path: folder.path + "/a.lock").acquire(lease: .seconds(45))
            // A store whose folder is missing, and one whose folder cannot be made.
            for path in [folder.path + "/none/session.json", "/proc/martlet/session.json"] {
                let reading = try await FileTokenStore(path: path).update { _ in
                    #expect(held.isHeld)
                    return .keep
                }
                #expect(reading == .empty)
            }
        }
    }

    @Test("a held lock is released without a blocking call, whether by name or with its last reference")
    func release() async throws {
        try await TemporaryFolder.with { folder in
            let time = ManualTimeSource()
            let lock = ProcessLock(path: folder.path + "/a.lock", time: time)
            let calls = try await FoundCalls.ofTasks {
                try await lock.acquire(lease: .seconds(45)).release()
                _ = try await lock.acquire(lease: .seconds(45))
                _ = try await lock.acquire(lease: .seconds(45))
            }
            #expect(calls == [])
            #expect(time.uptime == .zero)
        }
    }

    @Test("a file is read, measured and sent without a blocking call of a task", .noBlockingCalls)
    func uploads() async throws {
        try await TemporaryFolder.with { folder in
            let path = try folder.file("a.png", Data(count: 700_000))
            var form = MultipartForm()
            form.append(fileAt: path, named: "typed")
            form.append(fileAt: path, named: "untyped", filename: "a")
            let transport = StubTransport()
            transport.when(.post, "/files").respond(.status(204))
            let client = client(transport)
            for body in [RequestBody.file(at: path), .multipart(form)] {
                try await client.send(Call<NoContent>.post("/files", body))
            }
            #expect(transport.requests.map { $0.body.count > 700_000 } == [false, true])
            // A pass that is dropped midway closes its file.
            for try await _ in FileChunks(path: path) { break }
        }
    }

    @Test("images, logs and account lists make no blocking call of a task", .noBlockingCalls)
    func others() async throws {
        try await TemporaryFolder.with { folder in
            let accounts = FileAccountStore(folder: folder.path)
            try await accounts.setCurrent(AccountID(rawValue: "a"))
            #expect(try await accounts.current()?.rawValue == "a")
            #expect(try await accounts.accounts() == [])
            let pipe = Pipe()
            LogOutput(descriptor: pipe.fileHandleForWriting.fileDescriptor).write("a line")
            await LogOutput.flush()
        }
    }

    @Test("the sources make blocking calls only through System, and wait only in BlockingQueue")
    func sources() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Sources").standardized
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        var count = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            let name = file.lastPathComponent
            // The code for Apple platforms is not compiled here, tests may block, and MartletJSON has no C library.
            let isExempt = ["/MartletTesting/", "/MartletJSON/"].contains { file.path.contains($0) }
            if name.hasSuffix("+Apple.swift") || isExempt { continue }
            count += 1
            let code = try String(contentsOf: file, encoding: .utf8)
            let found = SourceScan(code).forbidden.subtracting(Self.exceptions[name] ?? [])
            #expect(found == [], "\(name)")
        }
        #expect(count > 200)
        #expect(SourceScan("let a = open(path, O_RDONLY)\nFileManager.default").forbidden == ["open", "FileManager"])
    }

    private static let exceptions: [String: Set<String>] = [
        "Libc.swift": ["flock"],
        "Disk.swift": ["opendir", "readdir", "closedir", "fcntl", "rename", "renamex_np", "renameat2"],
        "BlockingQueue.swift": ["DispatchQueue", "sync"],
        // Only on Apple platforms, on a thread that the system gives for it.
        "ExpiringActivity.swift": ["DispatchSemaphore"],
        // Closures.
        "LogObserver.swift": ["write"], "CurlCommand.swift": ["write"], "PictureReader.swift": ["open"],
        "StorePort.swift": ["access"], "WriteBehind.swift": ["write"],
        // Its path comes from the environment.
        "SpooledBody.swift": ["FileManager"],
        // On the queue of the Secret Service.
        "LibSecret.swift": ["dlopen"],
    ]
}

/// Finds the names of functions and types in source code that may block.
private struct SourceScan {
    private(set) var forbidden: Set<String> = []

    private static let functions = Set(
        """
        access chmod chown close closedir creat dlopen dup3 fchmod fclose fcntl fdatasync fflush flock fopen fputs fread \
        fstat fstatat fsync ftruncate futimens fwrite getaddrinfo gethostbyname gethostname getpwnam getpwuid getpwuid_r \
        inotify_add_watch link linkat lockf lstat mkdir mkdirat mkdtemp mkstemp mmap msync nanosleep open openat opendir \
        poll popen pread preadv pthread_cond_wait pthread_join pwrite pwritev read readdir readlink readv realpath \
        remove rename renameat renameat2 renamex_np rmdir scandir select sem_wait sendfile sleep stat statfs statvfs \
        symlink sync system truncate unlink unlinkat usleep utimes waitpid write writev
        """.split(separator: " ").map(String.init))

    private static let words: Set<String> = [
        "FileManager", "FileHandle", "DispatchQueue", "DispatchSemaphore", "DispatchGroup", "NSCondition", "NSLock",
        "Thread", "Process",
    ]

    init(_ code: String) {
        let lines = code.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
        let text = lines.joined(separator: "\n")
        // A call of the C library has no argument labels. In a type, a function of the same name hides that of the
        // library.
        let call = /(?<before>[A-Za-z.]+ *)?\b(?<name>[a-z_0-9]+)\((?![):]|\w+:)/.wordBoundaryKind(.simple)
        for match in text.matches(of: call) where Self.functions.contains(String(match.name)) {
            let before = match.before ?? ""
            let isOther = before.hasSuffix(".") || before.hasSuffix("func ") || before.hasSuffix("case ")
            if !isOther, !text.contains("func \(match.name)(") { forbidden.insert(String(match.name)) }
        }
        let word = /(?<word>[A-Z]\w+)[(.]/
        for match in text.matches(of: word) where Self.words.contains(String(match.word)) {
            forbidden.insert(String(match.word))
        }
        if text.contains(/\.sync *[({]/) { forbidden.insert("sync") }
        if text.contains(/contentsOf(File)?: *(URL|url|path)/) { forbidden.insert("contentsOf") }
    }
}

/// A store of an app that has a lock, and updates its record by the default implementation.
private struct StoreWithDefaults: TokenStore {
    let base: SecureTokenStore

    var refreshLock: (any StoreLock)? { base.refreshLock }
    func read() async -> StoreReading { await base.read() }
    func write(_ session: StoredSession) async throws { try await base.write(session) }
    func delete() async throws { try await base.delete() }
}
