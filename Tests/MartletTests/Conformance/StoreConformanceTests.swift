import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: stores that cannot be read", .timeLimit(.minutes(10))) struct StoreConformanceTests {
    @Test("C75: a store that is unlocked later is read without a call") func unlockedLater() async throws {
        let store = FailingTokenStore(.inMemory(.fresh()))
        store.isLocked = true
        let app = App(store: store)
        var states = app.tokens.states.makeAsyncIterator()
        while case let state? = await states.next() {
            if case .unavailable = state { break }
        }
        let clock = Task {
            while !Task.isCancelled {
                app.time.advanceToNextSleeper()
                await Task.yield()
            }
        }
        while store.operations.count < 5 { await Task.yield() }
        store.isLocked = false
        while case let state? = await states.next() {
            if state.isSignedIn { break }
        }
        clock.cancel()
        #expect(app.tokens.state.isSignedIn)
    }

    /// Bytes in the record's place that waiting cannot make readable.
    enum Unreadable: CaseIterable, Sendable {
        case damaged, newer, unsafe, film, otherObject

        var kind: StorageError.Kind {
            switch self {
            case .damaged: .corrupt
            case .newer: .tooNew
            case .unsafe: .unsafePermissions
            case .film, .otherObject: .foreign
            }
        }

        func put(at path: String) throws {
            let bytes: Data =
                switch self {
                case .damaged: Data("{\"version\":1,\"ses".utf8)
                case .newer: Data(#"{"version":99,"session":{}}"#.utf8)
                case .unsafe: try StoredSession(id: SessionID(), tokens: .fresh()).encoded()
                case .film: Data(repeating: 0x47, count: 5 << 20)
                case .otherObject: Data(#"{"theme":"dark"}"#.utf8)
                }
            try bytes.write(to: URL(filePath: path))
            chmod(path, self == .unsafe ? 0o644 : 0o600)
        }
    }

    @Test("C76: a record that waiting cannot make readable is a state of its own", arguments: Unreadable.allCases)
    func unreadable(what: Unreadable) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            try what.put(at: path)
            let app = App(store: FileTokenStore(path: path))
            guard case .unreadable(let failure) = await app.tokens.restore() else {
                Issue.record("\(app.tokens.state)")
                return
            }
            #expect(failure.kind == what.kind)
            #expect(app.time.sleeperCount == 0, "it is not read again by itself")
            let before = try Data(contentsOf: URL(filePath: path))
            var events = app.tokens.events.makeAsyncIterator()
            let session = try await app.tokens.signIn(with: app.backend.issue())
            #expect(await app.call().isSuccess)
            if what.kind == .foreign {
                #expect(session.saveFailure?.kind == .foreign)
                #expect(try Data(contentsOf: URL(filePath: path)) == before)
                await app.tokens.signOut()
                #expect(try Data(contentsOf: URL(filePath: path)) == before)
            } else {
                #expect(session.isSaved && session.replacedRecord == failure)
                while case let event? = await events.next() {
                    if event == .replacedUnreadableRecord(failure) { break }
                }
                #expect(try Data(contentsOf: URL(filePath: path)) != before)
            }
        }
    }

    @Test(
        "C77: a sign-in that was written late does not replace a later sign-in of another process",
        arguments: [true, false])
    func laterSignIn(hasEarlierRecord: Bool) async throws {
        let shared = SharedStubStore()
        if hasEarlierRecord { try await shared.write(StoredSession(id: SessionID(), tokens: .fresh(9))) }
        let full = FailingTokenStore(shared)
        // Longer than the clock below can advance while the store works.
        var policy = SessionPolicy()
        policy.storeTimeout = .seconds(1_000_000)
        let first = App(store: full, policy: policy)
        full.fail(.write)
        let unsaved = try await first.tokens.signIn(with: first.backend.issue())
        #expect(!unsaved.isSaved)
        // The store of this test reads and deletes in two steps, between which the later record must not appear.
        while await shared.read() != .empty { await Task.yield() }
        let events = first.tokens.events
        let second = App(store: shared)
        let saved = try await second.tokens.signIn(with: second.backend.issue())
        full.recover()
        // The retry waits for its time.
        while first.tokens.state != .signedIn(saved) {
            first.time.advance(by: .milliseconds(1))
            await Task.yield()
        }
        #expect(await events.first { if case .adopted = $0 { true } else { false } } != nil)
        guard case .found(let record) = await shared.read() else {
            Issue.record("the later session was deleted")
            return
        }
        #expect(record.id == saved.id)
    }
}
