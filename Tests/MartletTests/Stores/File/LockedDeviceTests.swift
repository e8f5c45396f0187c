#if DEBUG
    import Foundation
    import MartletTesting
    import MartletTestSupport
    import Testing

    @testable import Martlet

    @testable import MartletStorage

    @Suite("A device that is locked", .noBlockingCalls, .timeLimit(.minutes(10))) struct LockedDeviceTests {
        private let device = LockedDevice()

        @Test("a record that cannot be opened is locked, and is neither replaced nor deleted") func record()
            async throws
        {
            try await TemporaryFolder.with { folder in
                let store = FileTokenStore(path: folder.path + "/session.json", steps: device.steps)
                let session = StoredSession(id: SessionID(), tokens: .fresh())
                try await store.write(session)
                for ending in ["session.json", ""] {
                    await LockedDevice.whileLocked(folder, ending: ending) {
                        guard case .unavailable(let failure) = await store.read() else {
                            Issue.record("the record was read")
                            return
                        }
                        #expect(failure.kind == .locked)
                        #expect(failure.description.hasSuffix("session.json: the device is locked. Unlock it"))
                    }
                }
                await LockedDevice.whileLocked(folder) {
                    let writing = await #expect(throws: StorageError.self) { try await store.write(session) }
                    #expect(writing?.kind == .locked)
                    let deleting = await #expect(throws: StorageError.self) { try await store.delete() }
                    #expect(deleting?.kind == .locked)
                }
                #expect(await store.read() == .found(session))
            }
        }

        @Test("a refresh whose lock cannot be opened does not go on without it", arguments: [".refresh.lock", ".lock"])
        func refresh(ending: String) async throws {
            try await TemporaryFolder.with { folder in
                let store = FileTokenStore(path: folder.path + "/session.json", steps: device.steps)
                let app = try await App.signedIn(store: store)
                try await app.tokens.refresh()
                #expect(app.backend.refreshCalls == 1)
                await LockedDevice.whileLocked(folder, ending: ending) {
                    await #expect(throws: (any Error).self) { try await app.tokens.refresh() }
                }
                #expect(app.backend.refreshCalls == 1)
                #expect(app.tokens.isSignedIn)
            }
        }

        @Test("on a system without Data Protection, the same error is a missing permission") func otherSystems()
            async throws
        {
            try await TemporaryFolder.with { folder in
                let store = FileTokenStore(path: folder.path + "/session.json")
                try await store.write(StoredSession(id: SessionID(), tokens: .fresh()))
                await LockedDevice.whileLocked(folder) {
                    guard case .unavailable(let failure) = await store.read() else {
                        Issue.record("the record was read")
                        return
                    }
                    #expect(failure.kind == .unreachable)
                    #expect(
                        failure.description.hasSuffix(
                            "session.json: Operation not permitted; correct the owner or the permissions of the file and its folder"
                        ))
                }
            }
        }

        @Test("locks and notes can always be opened, records and markers from the first unlock on") func classes()
            async throws
        {
            try await TemporaryFolder.with { folder in
                let store = FileTokenStore(path: folder.path + "/new/session.json", steps: device.steps)
                try await store.write(StoredSession(id: SessionID(), tokens: .fresh()))
                let files = CoordinationFiles(
                    folder: folder.path + "/group", key: "app", time: ManualTimeSource(), steps: device.steps)
                let held = try await files.updateLock.acquireHeld(lease: .seconds(5))
                await files.reportChange()
                await held.releaseNow()
                await BlockingQueue.run { [device] in
                    _ = InstallMarker(folder: folder.path + "/app", steps: device.steps)?.readOrCreate()
                }
                let expected: [(String, DataProtection.Class)] = [
                    ("new", .afterFirstUnlock), ("session.json", .afterFirstUnlock), ("session.json.lock", .none),
                    ("group", .afterFirstUnlock), ("app.lock", .none), ("app.changed", .none),
                    ("app", .afterFirstUnlock), ("installation", .afterFirstUnlock),
                ]
                let entries = Set(expected.map { LockedDevice.Entry(name: $0.0, dataClass: $0.1) })
                #expect(device.entries.withLock { $0 } == entries)
                #expect(device.filled.withLock { $0 } == [], "a file had contents before it had its class")
            }
        }

        @Test("a lock that is taken away from a suspended process can be opened, too") func takeover() async throws {
            try await TemporaryFolder.with { folder in
                let path = folder.path + "/a.lock"
                let lock = FileLock(path: path, steps: device.steps)
                let steps = device.steps
                try await BlockingQueue.run {
                    guard case .acquired(let first) = try lock.attempt(),
                        case .busy(let holder) = try FileLock(path: path, steps: steps).attempt()
                    else {
                        Issue.record("the lock was not acquired once")
                        return
                    }
                    try lock.takeAway(from: holder)?.release()
                    first.release()
                }
                // The successor has the class under its temporary name.
                let entry = LockedDevice.Entry(name: "a.lock", dataClass: .none)
                #expect(device.entries.withLock { $0 } == [entry])
            }
        }
    }
#endif
