import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Several accounts", .timeLimit(.minutes(10))) struct AccountsTests {
    @Test(
        "C56: two accounts that refresh at the same time get their own tokens, even if the responses arrive in reverse")
    func concurrentRefreshes() async throws {
        let gates: [String: Gate] = ["ada": Gate(), "grace": Gate()]
        let (accounts, transport) = try await signedIn { await gates[$0]?.pass() }
        async let ada = call(accounts, "ada")
        async let grace = call(accounts, "grace")
        await gates["ada"]?.waitForArrivals()
        await gates["grace"]?.waitForArrivals()
        gates["grace"]?.open()
        #expect(await grace == "Bearer grace-2")
        gates["ada"]?.open()
        #expect(await ada == "Bearer ada-2")
        #expect(transport.requests(to: "/auth/refresh").count == 2)
        #expect(try await accounts.tokens(for: "ada").validTokens().accessToken == "ada-2")
        #expect(try await accounts.tokens(for: "grace").validTokens().accessToken == "grace-2")
    }

    @Test("C56: a call in flight keeps its account when another account becomes current") func switching()
        async throws
    {
        let gate = Gate()
        let (accounts, transport) = try await signedIn { _ in await gate.pass() }
        try await accounts.makeCurrent("ada")
        async let ada = call(accounts, "ada")
        await gate.waitForArrivals()
        try await accounts.makeCurrent("grace")
        gate.open()
        #expect(await ada == "Bearer ada-2")
        #expect(transport.requests.allSatisfy { $0.headers[.authorization]?.contains("grace") != true })
    }

    @Test("concurrent callers get the same manager for an account") func oneManager() async throws {
        let accounts = Accounts(store: .inMemory) { _, store in Self.manager(store, StubTransport { _ in .status(404) })
        }
        let managers = await withTaskGroup(of: TokenManager.self) { group in
            for _ in 0..<100 { group.addTask { accounts.tokens(for: "ada") } }
            return await group.reduce(into: []) { $0.append(ObjectIdentifier($1)) }
        }
        #expect(Set(managers).count == 1)
        #expect(accounts.tokens(for: "grace") !== accounts.tokens(for: "ada"))
    }

    @Test("an account's manager is made once, even if many tasks ask for it") func madeOnce() async throws {
        let made = Locked<[String: Int]>([:])
        let accounts = Accounts(store: .inMemory) { account, store in
            made.withLock { $0[account, default: 0] += 1 }
            // Slow enough for the other tasks to ask at the same time. On a loaded machine, a yield takes a
            // millisecond.
            for _ in 0..<20 { sched_yield() }
            return Self.manager(store, StubTransport { _ in .status(404) })
        }
        let ids = (0..<10).map { "\($0)" }
        await withTaskGroup(of: Void.self) { group in
            for id in ids {
                for _ in 0..<8 { group.addTask { _ = accounts.tokens(for: id) } }
            }
        }
        #expect(made.withLock { $0 } == Dictionary(uniqueKeysWithValues: ids.map { ($0, 1) }))
    }

    @Test("account IDs that only look the same are different accounts") func lookalikes() {
        let accounts = Accounts(store: .inMemory) { _, store in Self.manager(store, StubTransport { _ in .status(404) })
        }
        let (composed, decomposed) = ("Ren\u{E9}", "Rene\u{301}")
        #expect(composed == decomposed)
        #expect(accounts.tokens(for: composed) !== accounts.tokens(for: decomposed))
    }

    @Test("account IDs and user IDs that only look the same share no record, and are no one user")
    func lookalikeRecords() async throws {
        let store: AccountStore = .secure(.inMemory, folder: nil)
        let (composed, decomposed): (AccountID, AccountID) = ("Ren\u{E9}", "Rene\u{301}")
        try await store.store(for: composed).write(StoredSession(id: SessionID(), tokens: .fresh(1)))
        #expect(await store.store(for: decomposed).read() == .empty)
        #expect(SessionAccount(userID: composed.rawValue).continues(composed.rawValue))
        #expect(!SessionAccount(userID: composed.rawValue).continues(decomposed.rawValue))
    }

    @Test("an account signed out before the current one was read is not current at the next launch")
    func signOutBeforeRestore() async throws {
        let store = InMemoryAccountStore()
        await store.setCurrent("ada")
        let accounts = Accounts(store: AccountStore(store)) { _, store in
            Self.manager(store, StubTransport { _ in .status(404) })
        }
        try await accounts.signOut("grace")
        #expect(await store.current() == "ada")
        try await accounts.signOut("ada")
        #expect(await store.current() == nil)
        #expect(try await accounts.restore() == nil)
    }

    @Test("a cancelled switch returns at once and still takes effect") func cancelled() async throws {
        let store = SlowAccountStore()
        let accounts = Accounts(store: AccountStore(store)) { _, store in
            Self.manager(store, StubTransport { _ in .status(404) })
        }
        let switching = Task { try await accounts.makeCurrent("ada") }
        await store.gate.waitForArrivals()
        switching.cancel()
        await #expect(throws: CancellationError.self) { try await switching.value }
        store.gate.open()
        #expect(try await accounts.restore() == "ada")
    }

    @Test("an account that was made current again during its sign-out stays the current one") func backAgain()
        async throws
    {
        let (store, disk) = (InMemoryAccountStore(), HeldTokenStore())
        let accounts = Accounts(store: AccountStore(store)) { _, _ in
            Self.manager(disk, StubTransport { _ in .status(404) })
        }
        try await accounts.tokens(for: "ada").signIn(with: .fresh(1))
        let gate = disk.hold()
        let signOut = Task { try await accounts.signOut("ada") }
        await gate.waitForArrivals()
        try await accounts.makeCurrent("ada")
        let signIn = Task { try await accounts.tokens(for: "ada").signIn(with: .fresh(2)) }
        gate.open()
        try await signOut.value
        _ = try await signIn.value
        #expect(await store.current() == "ada")
        #expect(accounts.current == "ada")
    }

    @Test("an account is not current after its sign-out, even if it was about to become so") func slowChange()
        async throws
    {
        let store = SlowAccountStore()
        let accounts = Accounts(store: AccountStore(store)) { _, store in
            Self.manager(store, StubTransport { _ in .status(404) })
        }
        let switching = Task { try await accounts.makeCurrent("ada") }
        await store.gate.waitForArrivals()
        let signOut = Task { try await accounts.signOut("ada") }
        for _ in 0..<100 { await Task.yield() }
        store.gate.open()
        try await switching.value
        try await signOut.value
        #expect(await store.current() == nil)
        #expect(accounts.current == nil)
    }

    @Test("a cancelled sign-out still leaves no current account") func cancelledSignOut() async throws {
        try await TemporaryFolder.with { folder in
            let accounts = Accounts(store: .files(in: folder.path + "/accounts")) { _, store in
                Self.manager(store, StubTransport { _ in .status(404) })
            }
            try await accounts.makeCurrent("ada")
            let signOut = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try? await accounts.signOut("ada")
            }
            await signOut.value
            #expect(accounts.current == nil)
            #expect(try await accounts.restore() == nil)
        }
    }

    @Test("the current account is stored, then published") func current() async throws {
        try await TemporaryFolder.with { folder in
            func open() -> Accounts {
                Accounts(store: .files(in: folder.path + "/accounts")) { _, store in
                    Self.manager(store, StubTransport { _ in .status(404) })
                }
            }
            let accounts = open()
            #expect(try await accounts.restore() == nil)
            var currentAccounts = accounts.currentAccounts.makeAsyncIterator()
            #expect(await currentAccounts.next() == .some(nil))
            try await accounts.makeCurrent("Ada")
            #expect(await currentAccounts.next() == .some("Ada"))
            #expect(try await open().restore() == "Ada")
            try await accounts.makeCurrent(nil)
            #expect(await currentAccounts.next() == .some(nil))
            #expect(try await open().restore() == nil)
        }
    }

    @Test("after many concurrent switches, the stored and the published account are the same") func concurrentSwitches()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let store = FileAccountStore(folder: folder.path)
            let accounts = Accounts(store: AccountStore(store)) { _, store in
                Self.manager(store, StubTransport { _ in .status(404) })
            }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask { try? await accounts.makeCurrent("\(number)") }
                }
            }
            let stored = try await store.current()
            #expect(stored?.rawValue == accounts.current)
        }
    }

    @Test("a switch that cannot be stored does not take effect") func failedSwitch() async throws {
        let accounts = Accounts(store: .files(in: "/proc/martlet")) { _, store in
            Self.manager(store, StubTransport { _ in .status(404) })
        }
        await #expect(throws: StorageError.self) { try await accounts.makeCurrent("ada") }
        #expect(accounts.current == nil)
    }

    @Test("signing out of one account leaves the others signed in") func signOut() async throws {
        let (accounts, _) = try await signedIn { _ in }
        try await accounts.makeCurrent("ada")
        #expect(try await accounts.stored() == ["ada", "grace"])
        try await accounts.signOut("ada")
        #expect(accounts.current == nil)
        #expect(try await accounts.stored() == ["grace"])
        #expect(accounts.tokens(for: "ada").state == .signedOut)
        #expect(accounts.tokens(for: "grace").state.isSignedIn)
        try await accounts.makeCurrent("grace")
        try await accounts.signOut("ada")
        #expect(accounts.current == "grace")
    }

    private static func manager(_ store: any TokenStore, _ transport: StubTransport) -> TokenManager {
        TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource())
    }

    /// Two accounts whose tokens the server rejects. It refreshes the tokens of either.
    private func signedIn(
        beforeRefresh: @escaping @Sendable (String) async -> Void
    ) async throws -> (Accounts, StubTransport) {
        let transport = StubTransport { request in
            let token = request.bearer ?? ""
            guard request.path == "/auth/refresh" else {
                return token.hasSuffix("-2")
                    ? .json(#"{"path":"\#(token)","token":"seen"}"#) : .status(401)
            }
            struct Body: Decodable { let refreshToken: String }
            let name = try JSONDecoder().decode(Body.self, from: request.body).refreshToken
                .replacing("-refresh", with: "")
            await beforeRefresh(name)
            return .json(#"{"accessToken":"\#(name)-2","refreshToken":"\#(name)-refresh"}"#)
        }
        let accounts = Accounts(store: .inMemory) { _, store in Self.manager(store, transport) }
        for name in ["ada", "grace"] {
            try await accounts.tokens(for: name).signIn(
                with: Tokens(accessToken: Secret("\(name)-1"), refreshToken: Secret("\(name)-refresh")))
        }
        return (accounts, transport)
    }

    /// Sends a call for one account, and returns the authorization it was finally sent with.
    private func call(_ accounts: Accounts, _ account: String) async -> String {
        do throws(NetworkError) {
            let echo: Echo = try await NetworkClient(tokens: accounts.tokens(for: account)).send(Get("/me", .required))
            return "Bearer \(echo.path)"
        } catch {
            return "\(error)"
        }
    }
}

extension AccountID: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self.init(rawValue: text) }
}

/// A store whose updates wait at a gate after `hold()` was called.
private final class HeldTokenStore: TokenStore {
    private let gate = Locked<Gate?>(nil)
    private let inner = InMemoryTokenStore()

    func hold() -> Gate {
        let gate = Gate()
        self.gate.withLock { $0 = gate }
        return gate
    }

    func read() async -> StoreReading { await inner.read() }
    func write(_ session: StoredSession) async { await inner.write(session) }
    func delete() async { await inner.delete() }
    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        await gate.withLock { $0 }?.pass()
        return try await inner.update(decide)
    }
}

/// Stores the current account once its gate is open.
private final class SlowAccountStore: AccountStorage {
    let gate = Gate()
    private let inner = InMemoryAccountStore()

    func store(for account: AccountID) -> any TokenStore { inner.store(for: account) }
    func accounts() async -> [AccountID] { await inner.accounts() }
    func current() async -> AccountID? { await inner.current() }
    func setCurrent(_ account: AccountID?) async {
        await gate.pass()
        await inner.setCurrent(account)
    }
}

@Suite("Account files", .timeLimit(.minutes(10))) struct FileAccountStoreTests {
    static let names = [
        "ada", "Ada", "ADA", "", "%", "%41", "../../etc/passwd", "a/b", "a.b", ".", "..", "session.json",
        "current.json",
        "ada@example.com", "에이다", "Ünïcode", "U\u{308}nicode", "a b\n\u{0}c", String(repeating: "x", count: 200),
        String(repeating: "x", count: 201), String(repeating: "ß", count: 300),
    ]

    @Test("every account ID maps to a distinct file name and back") func names() {
        for name in Self.names {
            let path = FileAccountStore.path(of: AccountID(rawValue: name))
            #expect(FileAccountStore.account(at: path)?.rawValue.utf8.elementsEqual(name.utf8) == true, "\(name)")
            #expect(path == path.lowercased())
            #expect(!path.hasPrefix("/") && path.utf8.allSatisfy { $0 < 128 })
            #expect(
                path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
                    !$0.isEmpty && !$0.contains(".")
                })
        }
        #expect(Set(Self.names.map { FileAccountStore.path(of: AccountID(rawValue: $0)) }).count == Self.names.count)
    }

    @Test("sessions are stored separately and can be listed") func apart() async throws {
        try await TemporaryFolder.with { folder in
            let store = FileAccountStore(folder: folder.path + "/accounts")
            #expect(try await store.accounts() == [])
            for (number, name) in Self.names.enumerated() {
                try await store.store(for: AccountID(rawValue: name)).write(
                    StoredSession(id: SessionID(), tokens: .fresh(number)))
            }
            for (number, name) in Self.names.enumerated() {
                guard case .found(let record) = await store.store(for: AccountID(rawValue: name)).read() else {
                    Issue.record("\(name) has no record")
                    continue
                }
                #expect(record.tokens == .fresh(number))
            }
            let listed = try await store.accounts().map { Array($0.rawValue.utf8) }
            #expect(Set(listed) == Set(Self.names.map { Array($0.utf8) }))
            let sorted = try await store.accounts().map(\.rawValue)
            #expect(sorted == sorted.sorted())
            try await store.store(for: "ada").delete()
            #expect(try await store.accounts().count == Self.names.count - 1)
        }
    }

    @Test("temporary files of an interrupted write are removed") func leftovers() async throws {
        try await TemporaryFolder.with { folder in
            try folder.file(".current.json.1.2.tmp", Data(#"["grace"]"#.utf8))
            let leftover = folder.path + "/.current.json.1.2.tmp"
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -3600)], ofItemAtPath: leftover)
            // Recent enough that another process may still be writing it.
            try folder.file(".current.json.3.4.tmp")
            let store = FileAccountStore(folder: folder.path)
            try await store.setCurrent("ada")
            #expect(FileManager.default.fileExists(atPath: folder.path + "/.current.json.3.4.tmp"))
            #expect(!FileManager.default.fileExists(atPath: leftover))
            #expect(try await store.current() == "ada")
        }
    }

    @Test("a damaged record of the current account is an error") func damagedCurrentAccount() async throws {
        try await TemporaryFolder.with { folder in
            try folder.file("current.json", Data("{".utf8))
            chmod(folder.path + "/current.json", 0o600)
            let failure = await #expect(throws: StorageError.self) {
                try await FileAccountStore(folder: folder.path).current()
            }
            #expect(failure?.kind == .corrupt)
        }
    }
}
