import Foundation
import MartletTesting
import Testing

@testable import Martlet

/// The contract of every token store.
struct TokenStoreContract: Sendable {
    /// Opens another handle on the same record, as another process or a later launch would.
    let open: @Sendable () -> any TokenStore
    /// Replaces the stored bytes without using the store; `nil` if the store keeps no bytes.
    var put: (@Sendable (Data) async throws -> Void)?

    /// Checks the whole contract.
    func verify() async throws {
        try await readsLastWrite()
        try await updatesDecideOnReading()
        try await keepsUnreadableRecords()
        try await serializesUpdates()
        try await reportsChanges()
        try await open().delete()
    }

    private func readsLastWrite() async throws {
        #expect(await open().read() == .empty)
        try await open().delete()
        var record = StoredSession(
            id: SessionID(), bundle: .fresh(1), estimatedExpiry: Date(timeIntervalSince1970: 1_790_000_000.25),
            lifetime: .seconds(3600), account: SessionAccount(userID: "7", isGuest: true),
            journal: RefreshJournal(
                startedAt: Date(timeIntervalSince1970: 1_790_000_000), fingerprint: "f", isInherited: true))
        let store = open()
        try await store.write(record)
        #expect(await store.read() == .found(record))
        #expect(await open().read() == .found(record))
        record.rotation = 1
        record.bundle = TokenBundle(accessToken: "a", refreshToken: nil, scope: "read")
        record.journal = nil
        try await open().write(record)
        #expect(await store.read() == .found(record))
        try await store.delete()
        #expect(await store.read() == .empty)
        #expect(await open().read() == .empty)
    }

    private func updatesDecideOnReading() async throws {
        let record = StoredSession(id: SessionID(), bundle: .fresh(1))
        #expect(try await open().update { $0 == .empty ? .write(record) : .keep } == .empty)
        #expect(try await open().update { _ in .keep } == .found(record))
        #expect(await open().read() == .found(record))
        #expect(try await open().update { $0 == .found(record) ? .delete : .keep } == .found(record))
        #expect(try await open().update { _ in .delete } == .empty)
        #expect(await open().read() == .empty)
    }

    /// A damaged or newer record is unavailable, not missing, and stays unchanged.
    private func keepsUnreadableRecords() async throws {
        guard let put else { return }
        for (bytes, kind) in [
            ("{", StorageError.Kind.corrupt), ("", .corrupt), (#"{"version":1,"session":7}"#, .corrupt),
            (#"{"version":99,"session":{"bundle":"s3cret"}}"#, .tooNew),
        ] {
            try await put(Data(bytes.utf8))
            let reading = try await open().update { _ in .keep }
            guard case .unavailable(let failure) = reading, await open().read() == reading else {
                Issue.record("\(bytes) was read as \(reading)")
                continue
            }
            #expect(failure.kind == kind)
            #expect(!failure.description.contains("s3cret"))
        }
        let record = StoredSession(id: SessionID(), bundle: .fresh(1))
        try await open().write(record)
        #expect(await open().read() == .found(record))
        try await put(Data("{".utf8))
        try await open().delete()
        #expect(await open().read() == .empty)
    }

    private func serializesUpdates() async throws {
        guard open().lock != nil else { return }
        try await open().write(StoredSession(id: SessionID(), bundle: .fresh(1)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    let store = open()
                    for _ in 0..<5 {
                        try await store.update { reading in
                            guard case .found(var record) = reading else { return .keep }
                            record.rotation += 1
                            return .write(record)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        guard case .found(let record) = await open().read() else {
            Issue.record("the record was deleted")
            return
        }
        #expect(record.rotation == 25)
        try await open().delete()
    }

    private func reportsChanges() async throws {
        let store = open()
        guard store.lock != nil else { return }
        var changes = try #require(store.changes()).makeAsyncIterator()
        try await open().write(StoredSession(id: SessionID(), bundle: .fresh(1)))
        #expect(await changes.next() != nil)
        try await open().delete()
        #expect(await changes.next() != nil)
    }
}
