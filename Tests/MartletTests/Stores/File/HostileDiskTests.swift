import Foundation
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("A disk that is not as expected", .timeLimit(.minutes(10))) struct HostileDiskTests {
    @Test("without HOME, state is in the home folder of the password database", arguments: [nil, "", "relative/kim"])
    func missingHome(home: String?) {
        let environment = home.map { ["HOME": $0] } ?? [:]
        #expect(folder(environment, database: "/home/kim").hasPrefix("/home/kim/"))
        #expect(folder(["HOME": "/homes/lee"], database: "/home/kim").hasPrefix("/homes/lee/"))
    }

    #if !canImport(Darwin)
        @Test("a state folder of the environment needs no home folder") func stateFolder() {
            let folder = Disk.stateFolder(of: "app", environment: ["XDG_STATE_HOME": "/state"]) {
                Issue.record("the password database was asked")
                return nil
            }
            #expect(folder == "/state/app")
        }

        @Test("the password database knows the home folder of this user") func database() throws {
            #expect(try #require(System.homeFolder()).hasPrefix("/"))
        }
    #endif

    @Test("a value that another process deletes while it is saved is saved again", arguments: [1, 2])
    func deletedDuringWrite(deletions: Int) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/pin.value"
            let left = Locked(deletions)
            let file = PrivateFile(
                path: path,
                steps: FileSteps { step in
                    guard step == .flushed,
                        left.withLock({
                            $0 -= 1
                            return $0 >= 0
                        })
                    else { return }
                    PrivateFile(path: path).removeLeftovers(olderThan: 0)
                })
            let result = await BlockingQueue.run {
                Result { () throws(StorageError) in try file.replace(with: Data("1234".utf8), if: { true }) }
            }
            // Two deletions of the same file in one write are no coincidence.
            #expect((try? result.get()) == (deletions == 1 ? true : nil))
            #expect(FileManager.default.fileExists(atPath: path) == (deletions == 1))
        }
    }

    @Test("a service without a name has no folder, and every use of its store says why", arguments: ["", ".", ".."])
    func noService(service: String) async throws {
        let folder = Disk.stateFolder(of: service, environment: ["HOME": "/home/kim"]) { nil }
        let store = FileTokenStore(path: folder + "/session.json", time: ManualTimeSource())
        guard case .unavailable(let failure) = await store.read() else {
            Issue.record("a session was looked for in \(folder)")
            return
        }
        #expect(failure.description.contains("service"), "\(failure)")
        await #expect(throws: StorageError.self) {
            try await store.write(StoredSession(id: SessionID(), tokens: .fresh()))
        }
    }

    @Test("without a home folder every use of a store fails and says why", arguments: [nil, "", "relative/kim"])
    func noHome(database: String?) async throws {
        let folder = folder([:], database: database)
        #expect(folder.hasPrefix("/"))
        let store = FileTokenStore(path: folder + "/session.json", time: ManualTimeSource())
        guard case .unavailable(let failure) = await store.read() else {
            Issue.record("a session was looked for in \(folder)")
            return
        }
        var failures: [any Error] = [failure]
        let accounts = FileAccountStore(folder: folder)
        let storage = FileStorage(folder: folder)
        let uses: [() async throws -> Void] = [
            { try await store.write(StoredSession(id: SessionID(), tokens: .fresh())) },
            { try await store.delete() },
            { try await accounts.setCurrent(AccountID(rawValue: "kim")) },
            { _ = try await accounts.current() },
            { _ = try await accounts.accounts() },
            { try await storage.save(Data(), for: "pin") },
            { _ = try await storage.keys() },
        ]
        for use in uses { failures.append(try #require(await #expect(throws: StorageError.self) { try await use() })) }
        for failure in failures { #expect("\(failure)".hasSuffix("Set HOME, or name the path yourself"), "\(failure)") }
    }

    // Only root can give a file away. The kernel may forbid other users to link it.
    @Test("a lock file that is a hard link to another user's file is left alone", .enabled(if: geteuid() == 0))
    func foreignLink() async throws {
        try await TemporaryFolder.with { folder in
            let precious = try folder.file("precious", Data("precious".utf8))
            let path = folder.path + "/session.json.lock"
            #expect(chown(precious, 12345, 12345) == 0)
            #expect(link(precious, path) == 0)
            let lock = FileLock(path: path, steps: .unobserved)
            let failure = #expect(throws: StorageError.self) {
                if case .acquired(let claim) = try lock.attempt() { claim.release() }
            }
            #expect(
                failure?.description.contains("\(path): it is a hard link to a file of another user (12345)") == true)
            await #expect(throws: StorageError.self) {
                try await FileTokenStore(path: folder.path + "/session.json", time: ManualTimeSource())
                    .write(StoredSession(id: SessionID(), tokens: .fresh()))
            }
            #expect(FileManager.default.contents(atPath: precious) == Data("precious".utf8))
            // A link of the user's own is harmless, and remains for a moment when a lock is taken away.
            #expect(chown(precious, geteuid(), getegid()) == 0)
            guard case .acquired(let claim) = try lock.attempt() else {
                Issue.record("the lock was busy")
                return
            }
            claim.release()
        }
    }

    @Test("inode numbers of 64 bits distinguish files") func largeInodes() {
        var status = stat()
        status.st_ino = 1 << 63
        let before = Disk.Version(status)
        #expect(before.inode == 1 << 63)
        status.st_ino += 1
        #expect(Disk.Version(status) != before)
    }

    private func folder(_ environment: [String: String], database: String?) -> String {
        Disk.stateFolder(of: "app", environment: environment) { database }
    }
}
