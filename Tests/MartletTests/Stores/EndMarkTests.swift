import Foundation
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("The mark of an ending", .timeLimit(.minutes(10))) struct EndMarkTests {
    private let record = StoredSession(id: SessionID(), generation: 7, rotation: 3, tokens: .fresh(1))

    @Test(
        "keeps its order and its reason when it is encoded",
        arguments: [
            nil, .refreshTokenRejected(code: "invalid_grant"), .refreshTokenRejected(code: nil), .noRefreshToken,
            .rotationLost,
        ] as [ExpiryReason?])
    func encoding(expiry: ExpiryReason?) throws {
        let mark = EndMark(SessionPosition(generation: 7, rotation: 3), expiry: expiry)
        #expect(try EndMark(encoded: mark.encoded()) == mark)
    }

    @Test("an estimate keeps what has ended for certain, and survives encoding") func floor() throws {
        let (low, high) = (SessionPosition(generation: 3, rotation: 1), SessionPosition(generation: 9, rotation: 0))
        let estimate = EndMark(high, isEstimate: true)
        let merged = try #require(EndMark.later(EndMark(low), estimate))
        #expect(merged.position == high && merged.isEstimate && merged.certainPosition == low)
        #expect(try EndMark(encoded: merged.encoded()) == merged)
        #expect(estimate.certainPosition == nil && EndMark(low).certainPosition == low)
        #expect(EndMark.later(merged, EndMark(.end(ofGeneration: 9)))?.certainPosition == .end(ofGeneration: 9))
    }

    @Test("is not read from bytes of another format or of a newer version") func foreignBytes() {
        for bytes in ["{", "", #"{"version":2}"#] {
            #expect(throws: StorageError.self) { try EndMark(encoded: Data(bytes.utf8)) }
        }
        let newer = #"{"generation":1,"rotation":0,"version":9}"#
        #expect(throws: StorageError(.tooNew, "the mark of the last sign-out has version 9; update the app")) {
            try EndMark(encoded: Data(newer.utf8))
        }
    }

    @Test("covers earlier refreshes and sign-ins, and nothing later") func order() {
        let mark = EndMark(SessionPosition(generation: 7, rotation: 3))
        for (generation, rotation, isCovered) in [
            (7, 3, true), (7, 2, true), (6, 9, true), (7, 4, false), (8, 0, false),
        ] {
            var other = record
            (other.generation, other.rotation) = (generation, rotation)
            #expect(mark.covers(other) == isCovered)
        }
    }

    @Test("is raised before the record goes, so that a crash between the two does not restore the session")
    func crashBetween() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session"
            let store = FileTokenStore(path: path)
            try await store.write(record)
            let mark = EndMark(record.position)
            try PrivateFile(path: path + ".ended").writeForTest(mark.encoded())
            #expect(await store.read() == .ended(mark))
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("stays when a lower one comes later, and goes when a sign-in below it is written") func raising() async throws
    {
        try await TemporaryFolder.with { folder in
            let store = FileTokenStore(path: folder.path + "/session")
            try await store.write(record)
            let mark = EndMark(SessionPosition(generation: 9, rotation: 0))
            try await store.update { _ in .end(mark) }
            try await store.update { _ in .mark(EndMark(record.position)) }
            #expect(await store.read() == .ended(mark))
            try await store.write(record)
            #expect(await store.read() == .found(record))
        }
    }

    @Test("a damaged mark says nothing, and the next one replaces it") func damaged() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session"
            let store = FileTokenStore(path: path)
            try await store.write(record)
            try PrivateFile(path: path + ".ended").writeForTest(Data("{".utf8))
            #expect(await store.read() == .found(record))
            try await store.update { _ in .end(EndMark(record.position)) }
            #expect(await store.read() == .ended(EndMark(record.position)))
        }
    }

    @Test("if it cannot be written, the record is deleted all the same, and the error says so") func unwritable()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session"
            let store = FileTokenStore(path: path)
            try await store.write(record)
            try FileManager.default.createDirectory(atPath: path + ".ended/x", withIntermediateDirectories: true)
            await #expect(throws: StorageError.self) { try await store.update { _ in .end(EndMark(record.position)) } }
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("without a lock file, a sign-out still deletes the record") func lockUnavailable() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session"
            let store = FileTokenStore(path: path)
            try await store.write(record)
            try FileManager.default.removeItem(atPath: path + ".lock")
            try FileManager.default.createDirectory(atPath: path + ".lock/x", withIntermediateDirectories: true)
            await #expect(throws: StorageError.self) { try await store.update { _ in .end(EndMark(record.position)) } }
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("without lock files the mark takes the record's place, in one step") func inPlace() async throws {
        let storage = InMemoryStorage()
        let store = SecureTokenStore(storage: storage, key: "session", folder: nil)
        try await store.write(record)
        try await store.update { _ in .end(EndMark(record.position)) }
        #expect(await store.read() == .ended(EndMark(record.position)))
        let value = try #require(await storage.read("session"))
        #expect(try EndMark(encoded: value) == EndMark(record.position))

        let earlier = EndMark(SessionPosition(generation: 0, rotation: 0))
        try await store.update { _ in .end(earlier) }
        try await store.delete()
        #expect(await store.read() == .ended(EndMark(record.position)))

        let later = EndMark(.end(ofGeneration: record.generation))
        try await store.update { _ in .mark(later) }
        #expect(await store.read() == .ended(later))

        try await store.write(record)
        #expect(await store.read() == .found(record))
    }

    @Test("a mark in the record's place still counts once the store has lock files") func folderAddedLater()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let storage = InMemoryStorage()
            let first = SecureTokenStore(storage: storage, key: "session", folder: nil)
            try await first.write(record)
            try await first.update { _ in .end(EndMark(record.position, expiry: .noRefreshToken)) }
            let second = SecureTokenStore(storage: storage, key: "session", folder: folder.path + "/locks")
            #expect(await second.read() == .ended(EndMark(record.position, expiry: .noRefreshToken)))
            let later = EndMark(.end(ofGeneration: record.generation))
            try await second.update { _ in .mark(later) }
            #expect(await second.read() == .ended(later))
            try await second.write(record)
            #expect(await second.read() == .found(record))
        }
    }

    @Test("a mark that others can read still counts") func readableMark() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            let store = FileTokenStore(path: path)
            try await store.write(record)
            let bytes = try #require(FileManager.default.contents(atPath: path))
            try await store.update { _ in .end(EndMark(record.position)) }
            let mark = try #require(store.markFile).path
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: mark)
            // The record of a process that was killed before it had deleted it.
            try PrivateFile(path: path).writeForTest(bytes)
            #expect(await store.read() == .ended(EndMark(record.position)))
        }
    }

    @Test("without lock files, nothing stays in the Keychain after a sign-out") func keychainInPlace() async throws {
        try await KeychainApp.with(FakeKeychain()) { app in
            let store = SecureTokenStore(storage: app.storage(), key: "session", folder: nil)
            try await store.write(record)
            try await store.update { _ in .end(EndMark(record.position)) }
            #expect(await store.read() == .empty)
            #expect(app.keychain.state.items.isEmpty)
        }
    }

    @Test("without lock files, the next start finds a sign-out that followed an expiry")
    func signOutAfterExpiry() async throws {
        let storage = InMemoryStorage()
        let store = SecureTokenStore(storage: storage, key: "session", folder: nil)
        try await store.update { [record] _ in .write(record) }
        let expiry = EndMark(record.position, expiry: .refreshTokenRejected(code: nil))
        try await store.update { _ in .end(expiry) }
        let tokens = TokenManager(baseURL: "https://api.example.com", store: store, refresher: .json(path: "/refresh"))
        #expect(await tokens.restore() == .expired(.refreshTokenRejected(code: nil)))
        await tokens.signOut()
        let next = TokenManager(baseURL: "https://api.example.com", store: store, refresher: .json(path: "/refresh"))
        #expect(await next.restore() == .signedOut)
    }

    @Test("if the mark cannot take the record's place, the record is deleted nevertheless") func fullInPlace()
        async throws
    {
        let storage = FullStorage()
        let store = SecureTokenStore(storage: storage, key: "session", folder: nil)
        try await store.write(record)
        storage.isFull.withLock { $0 = true }
        await #expect(throws: StorageError.self) { try await store.update { _ in .end(EndMark(record.position)) } }
        #expect(await store.read() == .empty)
    }

    @Test("if only the deletion makes room for the mark, it takes the place of the deleted record") func roomInPlace()
        async throws
    {
        let storage = FullStorage()
        let store = SecureTokenStore(storage: storage, key: "session", folder: nil)
        try await store.write(record)
        storage.isFull.withLock { $0 = true }
        storage.hasRoomAfterDeletion.withLock { $0 = true }
        try await store.update { _ in .end(EndMark(record.position)) }
        #expect(await store.read() == .ended(EndMark(record.position)))
    }

    @Test("without lock files, an account that has signed out is not in the list of the accounts") func accounts()
        async throws
    {
        let store = SecureAccountStore(storage: InMemoryStorage(), folder: nil)
        let one = store.store(for: AccountID(rawValue: "1"))
        try await one.write(record)
        #expect(try await store.accounts() == [AccountID(rawValue: "1")])
        try await one.update { [record] _ in .end(EndMark(record.position)) }
        #expect(try await store.accounts().isEmpty)
    }

    @Test("a secure storage keeps nothing of a session that has ended") func secureStorage() async throws {
        try await TemporaryFolder.with { folder in
            let storage = InMemoryStorage()
            let store = SecureTokenStore(storage: storage, key: "session", folder: folder.path)
            try await store.write(record)
            try await store.update { _ in .end(EndMark(record.position)) }
            #expect(await storage.keys().isEmpty)
            #expect(await store.read() == .ended(EndMark(record.position)))
        }
    }
}

/// A storage that can be full: it saves nothing more, and still deletes.
private final class FullStorage: SecureStorage {
    let isFull = Locked(false)
    let hasRoomAfterDeletion = Locked(false)
    private let storage = InMemoryStorage()

    func read(_ key: String) async throws(StorageError) -> Data? { await storage.read(key) }

    func save(_ value: Data, for key: String) async throws(StorageError) {
        guard !isFull.withLock({ $0 }) else { throw StorageError(.unreachable, "the storage is full") }
        await storage.save(value, for: key)
    }

    func delete(_ key: String) async throws(StorageError) {
        await storage.delete(key)
        if hasRoomAfterDeletion.withLock({ $0 }) { isFull.withLock { $0 = false } }
    }

    func keys() async throws(StorageError) -> [String] { await storage.keys() }
}

extension PrivateFile {
    fileprivate func writeForTest(_ bytes: Data) throws {
        _ = try replace(with: bytes, if: { true })
    }
}
