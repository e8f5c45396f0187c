import Foundation
import MartletAdoption
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("Taking over tokens from another place", .timeLimit(.minutes(10))) struct AdoptionTests {
    private static let old = Tokens(accessToken: "old-access", refreshToken: "old-refresh")

    /// Former tokens in memory.
    private final class Place: Sendable {
        private let state: Locked<(tokens: Tokens?, reads: Int, isLocked: Bool)>

        init(isLocked: Bool = false) {
            state = Locked((old, 0, isLocked))
        }

        func unlock() { state.withLock { $0.isLocked = false } }

        var tokens: Tokens? { state.withLock(\.tokens) }
        var reads: Int { state.withLock(\.reads) }

        var former: FormerTokens {
            FormerTokens(
                named: "the former app",
                read: {
                    try self.state.withLock { state in
                        if state.isLocked { throw StorageError(.locked, "the device is locked") }
                        state.reads += 1
                        return state.tokens
                    }
                }, account: { _ in SessionAccount(userID: "7") }, delete: { self.state.withLock { $0.tokens = nil } })
        }
    }

    /// A storage that fails at one of its calls.
    private final class FailingStorage: SecureStorage {
        private let state = Locked((values: [String: Data](), failsAt: Int?.none, lockedCalls: Int?.none))

        /// - Parameter lockedCalls: The number of calls from then on that find the storage locked; `nil` for a single
        ///   call during which the process is killed.
        init(failsAt call: Int?, lockedCalls: Int? = nil) {
            state.withLock { ($0.failsAt, $0.lockedCalls) = (call, lockedCalls) }
        }

        var keys: [String] { state.withLock { $0.values.keys.sorted() } }

        private func access<Value>(_ body: (inout [String: Data]) -> Value) throws(StorageError) -> Value {
            try state.withLock { state throws(StorageError) in
                if state.failsAt == 0, let left = state.lockedCalls, left > 0 {
                    state.lockedCalls = left - 1
                    throw StorageError(.locked, "the keyring is locked")
                }
                if state.failsAt == 0, state.lockedCalls == 0 { state.failsAt = nil }
                if let call = state.failsAt {
                    state.failsAt = call > 0 ? call - 1 : nil
                    if call == 0 { throw StorageError(.unreachable, "the process was killed") }
                }
                return body(&state.values)
            }
        }

        /// Whether the call that fails has come.
        var hasFailed: Bool { state.withLock { $0.failsAt == nil } }

        func read(_ key: String) async throws(StorageError) -> Data? { try access { $0[key] } }
        func save(_ value: Data, for key: String) async throws(StorageError) { try access { $0[key] = value } }
        func delete(_ key: String) async throws(StorageError) { try access { $0[key] = nil } }
        func keys() async throws(StorageError) -> [String] { try access { $0.keys.sorted() } }
    }

    /// The kinds of stores.
    private static func withStores(_ body: (AnyTokenStore) async throws -> Void) async throws {
        try await TemporaryFolder.with { folder in
            try await body(.file(path: folder.path + "/session.json"))
            try await body(.secure(.inMemory, key: "session", folder: folder.path + "/locks"))
            try await body(.secure(.inMemory, key: "session", folder: nil))
            try await body(.inMemory)
            #if Encryption
                let key = EncryptionKey.number(1)
                try await body(.encryptedFile(path: folder.path + "/session.sealed", key: key))
            #endif
        }
    }

    @Test("an adopted JWT that has expired is refreshed before it is used") func expiredJWT() async throws {
        let app = App()
        let hour = Int(app.time.wallClock.timeIntervalSince1970) - 3600
        let payload = Data("{\"iat\":\(hour - 900),\"exp\":\(hour)}".utf8).base64EncodedString()
            .replacing("=", with: "").replacing("+", with: "-").replacing("/", with: "_")
        let store: AnyTokenStore = .inMemory
        let former = FormerTokens(
            named: "the former app",
            read: { Tokens(accessToken: Secret("e30.\(payload).c2ln"), refreshToken: app.backend.issue().refreshToken) }
        )
        #expect(try await store.adopt(former))
        let next = App(app.backend, store: store, time: app.time)
        guard case .found(let record) = await store.read() else {
            Issue.record("nothing was adopted")
            return
        }
        #expect(record.estimatedExpiry == Date(timeIntervalSince1970: Double(hour)))
        #expect(try await next.tokens.validTokens().accessToken == "access-2")
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("tokens are adopted once in every store, with their user, and a later sign-out is final") func once()
        async throws
    {
        try await Self.withStores { store in
            let place = Place()
            #expect(try await store.adopt(place.former))
            guard case .found(let session) = await store.read() else {
                Issue.record("nothing was adopted")
                return
            }
            #expect(session.tokens == Self.old && session.account == SessionAccount(userID: "7"))
            #expect(try await store.adopt(place.former) == false)
            try await store.delete()
            #expect(try await store.adopt(place.former) == false)
            #expect(await store.read().isEmpty && place.reads == 1)
            #expect(place.tokens == Self.old)
            #expect(try await store.adopt(place.former, deletingThem: true) == false)
            #expect(place.tokens == nil)
        }
    }

    @Test("after a session of the store has ended, older tokens do not bring one back") func ended() async throws {
        try await Self.withStores { store in
            let session = StoredSession(id: SessionID(), tokens: .fresh())
            try await store.write(session)
            try await store.update { _ in .end(EndMark(session.position)) }
            let place = Place()
            #expect(try await store.adopt(place.former, deletingThem: true) == false)
            #expect(await [.empty, .ended(EndMark(session.position))].contains(store.read()))
            #expect(place.tokens == nil)
        }
    }

    @Test("a store that adopts at its first reading begins the session, in every store") func adopting() async throws {
        try await Self.withStores { store in
            let place = Place()
            let app = App(store: store.adopting(place.former, deletingThem: true))
            #expect(await app.tokens.restore().isSignedIn)
            #expect(app.tokens.currentTokens == Self.old)
            #expect(place.tokens == nil && place.reads == 1)
            await app.tokens.signOut()
            let next = App(store: store.adopting(place.former))
            #expect(await next.tokens.restore() == .signedOut)
            #expect(place.reads == 1)
        }
    }

    @Test("several places are adopted in their order: the first with tokens begins the session") func severalPlaces()
        async throws
    {
        let first = Place()
        let readsOfSecond = Locked(0)
        let empty = FormerTokens(named: "an empty place", read: { nil })
        let other = FormerTokens(
            named: "another place",
            read: {
                readsOfSecond.withLock { $0 += 1 }
                return Self.old
            })
        let store = AnyTokenStore.inMemory.adopting(empty).adopting(first.former).adopting(other)
        let app = App(store: store)
        #expect(await app.tokens.restore().isSignedIn)
        #expect(first.reads == 1 && readsOfSecond.withLock { $0 } == 0)
    }

    @Test("tokens that cannot be adopted are reported, and the user signs in") func unusable() async throws {
        struct Damaged: Error {}
        let failures = Locked(0)
        let former = FormerTokens(named: "the former app", read: { throw Damaged() })
        let store = AnyTokenStore.inMemory.adopting(
            former, onFailure: { if $0 is Damaged { failures.withLock { $0 += 1 } } })
        let app = App(store: store)
        #expect(await app.tokens.restore() == .signedOut)
        try await app.tokens.signIn(with: app.backend.issue())
        #expect(await app.call().isSuccess)
        #expect(failures.withLock { $0 } == 1)
    }

    @Test("a store that is locked while it adopts adopts when it is unlocked", arguments: [1, 2])
    func lockedAfterFirstReading(lockedCalls: Int) async throws {
        // The first call reads the record.
        let storage = FailingStorage(failsAt: 1, lockedCalls: lockedCalls)
        let store = AnyTokenStore.secure(storage, key: "session", folder: nil).adopting(
            Place().former, onFailure: { Issue.record("\($0)") })
        guard case .unavailable(let failure) = await store.read(), failure.kind == .locked else {
            Issue.record("the store must be locked")
            return
        }
        guard case .found(let session) = await store.read() else {
            Issue.record("nothing was adopted")
            return
        }
        #expect(session.tokens == Self.old)
    }

    @Test("a sign-out is final even while the former tokens cannot be read, in every store") func lockedSignOut()
        async throws
    {
        try await Self.withStores { store in
            let place = Place(isLocked: true)
            let app = App(store: store.adopting(place.former))
            guard case .unavailable = await app.tokens.restore() else {
                Issue.record("the store must be unavailable")
                return
            }
            await app.tokens.signOut()
            #expect(app.tokens.state == .signedOut)
            place.unlock()
            let next = App(store: store.adopting(place.former, deletingThem: true))
            #expect(await next.tokens.restore() == .signedOut)
            #expect(place.tokens == nil)
        }
    }

    @Test(
        "a sign-in that was over before the former tokens could be read keeps them from coming back",
        arguments: [
            false, true,
        ])
    func signInBeforeReading(isLocked: Bool) async throws {
        try await Self.withStores { store in
            let place = Place(isLocked: isLocked)
            let app = App(store: store.adopting(place.former))
            if isLocked { await app.tokens.restore() }
            let session = try await app.tokens.signIn(with: app.backend.issue())
            #expect(session.isSaved)
            #expect(await app.call().isSuccess)
            // The app empties the store, which then keeps no mark.
            try await store.delete()
            place.unlock()
            let next = App(store: store.adopting(place.former))
            #expect(await next.tokens.restore() == .signedOut)
        }
    }

    @Test("if the adoption could not be noted, the user is signed in all the same") func notNotedAtLaunch() async throws
    {
        let failures = Locked(0)
        let store: AnyTokenStore = .secure(FailingStorage(failsAt: 5), key: "session", folder: nil)
        let app = App(
            store: store.adopting(Place().former, onFailure: { _ in failures.withLock { $0 += 1 } }))
        #expect(await app.tokens.restore().isSignedIn)
        #expect(app.tokens.currentTokens == Self.old)
        #expect(failures.withLock { $0 } == 1)
    }

    @Test("if a sign-in is stored and the adoption could not be noted, the session is saved") func notNotedAtSignIn()
        async throws
    {
        let failures = Locked(0)
        // The record is written before the adoption is noted.
        let storage = FailingStorage(failsAt: 2)
        let store = AnyTokenStore.secure(storage, key: "session", folder: nil).adopting(
            Place().former, onFailure: { _ in failures.withLock { $0 += 1 } })
        let app = App(store: store)
        let session = try await app.tokens.signIn(with: app.backend.issue())
        #expect(session.isSaved && storage.hasFailed)
        #expect(failures.withLock { $0 } == 1)
        // The next change notes it.
        await app.tokens.signOut()
        #expect(storage.keys.contains { $0.hasPrefix("adopted") })
    }

    @Test("an ending that could not note the adoption notes it when it is repeated") func notNotedAtSignOut()
        async throws
    {
        let (storage, place) = (FailingStorage(failsAt: nil), Place(isLocked: true))
        let store = AnyTokenStore.secure(storage, key: "session", folder: nil).adopting(place.former)
        try await store.write(StoredSession(id: SessionID(), tokens: .fresh()))
        #expect(storage.keys.count == 2)
        let other = FailingStorage(failsAt: 3)
        let second = AnyTokenStore.secure(other, key: "session", folder: nil).adopting(Place().former)
        // Calls 0 to 2 read, write, and ask for the note. Call 3 fails to take it.
        try await second.write(StoredSession(id: SessionID(), tokens: .fresh()))
        #expect(other.keys == ["session"])
        try await second.update { _ in .keep }
        #expect(other.keys.count == 2)
    }

    @Test("if the adoption could not be noted, a sign-out is still final") func notNoted() async throws {
        // The fifth call notes the adoption.
        let storage = FailingStorage(failsAt: 4)
        let store: AnyTokenStore = .secure(storage, key: "session", folder: nil)
        let place = Place()
        await #expect(throws: StorageError.self) { try await store.adopt(place.former) }
        guard case .found(let session) = await store.read() else {
            Issue.record("nothing was adopted")
            return
        }
        try await store.update { _ in .end(EndMark(session.position)) }
        #expect(try await store.adopt(place.former) == false)
        #expect(await store.read() == .ended(EndMark(session.position)))
    }

    @Test("a session of the store stays, and the older tokens never replace it") func occupied() async throws {
        try await Self.withStores { store in
            let own = StoredSession(id: SessionID(), tokens: .fresh())
            try await store.write(own)
            let place = Place()
            #expect(try await store.adopt(place.former) == false)
            #expect(await store.read() == .found(own))
            try await store.delete()
            #expect(try await store.adopt(place.former) == false)
            #expect(await store.read().isEmpty)
        }
    }

    @Test("a place that cannot be read does not matter to a store that has a session, or has ended one")
    func unreadableAfterASession() async throws {
        struct Damaged: Error {}
        try await Self.withStores { store in
            let log = Log()
            let former = FormerTokens(
                named: "the former app", read: { throw Damaged() }, delete: { log.add("deleted") })
            await #expect(throws: Damaged.self) { try await store.adopt(former, deletingThem: true) }
            #expect(log.lines.isEmpty)
            let own = StoredSession(id: SessionID(), tokens: .fresh())
            try await store.write(own)
            #expect(try await store.adopt(former, deletingThem: true) == false)
            #expect(log.lines == ["deleted"])
            #expect(await store.read() == .found(own))
            try await store.update { _ in .end(EndMark(own.position)) }
            #expect(try await store.adopt(former) == false)
        }
    }

    @Test("a place without tokens is looked at again, and one that cannot be read throws") func nothingYet()
        async throws
    {
        struct Unreadable: Error {}
        let store: AnyTokenStore = .inMemory
        #expect(try await store.adopt(FormerTokens(named: "a", read: { nil })) == false)
        await #expect(throws: Unreadable.self) {
            try await store.adopt(FormerTokens(named: "a", read: { throw Unreadable() }))
        }
        #expect(try await store.adopt(FormerTokens(named: "a", read: { Self.old })))
    }

    @Test("a process that is killed at any step loses neither the tokens nor the session, and adopts once")
    func killedAtEachStep() async throws {
        var call = 0
        while true {
            let storage = FailingStorage(failsAt: call)
            let store: AnyTokenStore = .secure(storage, key: "session", folder: nil)
            let place = Place()
            let isFirst = try? await store.adopt(place.former, deletingThem: true)
            if !storage.hasFailed {
                #expect(isFirst == true && call >= 4)
                return
            }
            let stored = await store.read()
            #expect(stored != .empty || place.tokens == Self.old, "call \(call)")
            let isSecond = try await store.adopt(place.former, deletingThem: true)
            guard case .found(let session) = await store.read() else {
                Issue.record("call \(call): the session is lost")
                return
            }
            #expect(session.tokens == Self.old && place.tokens == nil)
            #expect(isFirst == nil || isSecond == false)
            try await store.delete()
            #expect(try await store.adopt(Place().former) == false, "call \(call)")
            #expect(await store.read().isEmpty)
            call += 1
        }
    }

    @Test("a process finds the session that another one adopts at the same time") func adoptedElsewhere() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            let place = Place()
            let elsewhere = place.former
            let former = FormerTokens(
                named: "the former app",
                read: {
                    let isFirst = try await AnyTokenStore.file(path: path).adopt(elsewhere)
                    #expect(isFirst)
                    return Self.old
                })
            guard case .found(let session) = await AnyTokenStore.file(path: path).adopting(former).read() else {
                Issue.record("the session was not found")
                return
            }
            #expect(session.tokens == Self.old && session.account.userID == "7")
        }
    }

    @Test("an app and its extensions that adopt at the same time begin one session") func concurrent() async throws {
        try await TemporaryFolder.with { folder in
            let place = Place()
            let former = place.former
            let path = folder.path + "/session.json"
            let adopted = try await withThrowingTaskGroup { group in
                for _ in 0..<20 {
                    group.addTask { try await AnyTokenStore.file(path: path).adopt(former, deletingThem: true) }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(adopted == 1)
            guard case .found(let session) = await AnyTokenStore.file(path: path).read() else {
                Issue.record("the session is lost")
                return
            }
            #expect(session.tokens == Self.old)
        }
    }

    @Test("a store of another kind says that it cannot remember an adoption") func otherStore() async throws {
        let store = AnyTokenStore(FailingTokenStore())
        await #expect(throws: StorageError.self) { try await store.adopt(Place().former) }
    }

    #if !os(Linux) || URLSession || !AsyncHTTPClient
        @Test("values of UserDefaults are adopted and removed, even into UserDefaults") func userDefaults() async throws
        {
            let suite = "martlet.adoption.\(UUID().uuidString)"
            let defaults = try #require(UserDefaults(suiteName: suite))
            defer { defaults.removePersistentDomain(forName: suite) }
            defaults.set("a", forKey: "access")
            defaults.set("r", forKey: "refresh")
            let store: AnyTokenStore = .userDefaults(suiteName: suite)
            let former = FormerTokens.userDefaults(accessToken: "access", refreshToken: "refresh", suiteName: suite)
            #expect(try await store.adopt(former, deletingThem: true))
            #expect(defaults.string(forKey: "access") == nil && defaults.string(forKey: "refresh") == nil)
            try await store.delete()
            defaults.set("a", forKey: "access")
            #expect(try await store.adopt(former) == false)
            #expect(await store.read().isEmpty)
        }
    #endif
}
