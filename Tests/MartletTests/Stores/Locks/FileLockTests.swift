import Foundation
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("The lock files", .timeLimit(.minutes(10))) struct FileLockTests {
    @Test("C26: a lock is never taken over from a newer holder") func freshHolder() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/a.lock"
            let stale = try #require(take(path))
            let fresh = Locked<FileLock.Claim?>(nil)
            // After the last check of the stale holder and before the takeover, that holder releases the lock and
            // another one acquires it.
            let lock = FileLock(
                path: path,
                steps: FileSteps { step in
                    guard step == .successorMade else { return }
                    stale.release()
                    let claim = take(path)
                    fresh.withLock { $0 = claim }
                })
            guard case .busy(let holder) = try lock.attempt() else {
                Issue.record("the lock was free")
                return
            }
            #expect(try lock.takeAway(from: holder) == nil)
            let taken = fresh.withLock { $0 }
            let claim = try #require(taken)
            #expect(claim.isValid)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.lock"])
            claim.release()
            let next = try #require(take(path))
            #expect(next.isValid)
            next.release()
        }
    }

    @Test("a lock in a folder that was deleted fails") func deletedFolder() async throws {
        try await TemporaryFolder.with { folder in
            let lock = FileLock(path: folder.path + "/missing/a.lock", steps: .unobserved)
            let failure = #expect(throws: StorageError.self) { _ = try lock.attempt() }
            #expect(failure?.kind == .unreachable)
        }
    }

    @Test("a takeover does not begin if the holder to replace is gone") func goneHolder() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/a.lock"
            let steps = Locked<[FileSteps.Step]>([])
            let lock = FileLock(path: path, steps: FileSteps { step in steps.withLock { $0.append(step) } })
            let gone = try #require(take(path))
            guard case .busy(let holder) = try lock.attempt() else {
                Issue.record("the lock was free")
                return
            }
            gone.release()
            let current = try #require(take(path))
            #expect(try lock.takeAway(from: holder) == nil)
            // Even a takeover that ends here would invalidate the current holder for a moment.
            #expect(steps.withLock { $0 } == [])
            #expect(current.isValid)
            current.release()
        }
    }

    @Test(
        "other files beside the lock file do not matter",
        arguments: ["0", "+5", "-1", "007", "x", "1x", "9223372036854775807", "99999999999999999999", ""])
    func otherFiles(number: String) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/a.lock"
            try folder.file("a.lock.\(number)")
            try folder.file("b.a.lock.3")
            let first = try #require(take(path))
            let lock = FileLock(path: path, steps: .unobserved)
            guard case .busy(let holder) = try lock.attempt() else {
                Issue.record("the lock was free")
                return
            }
            let second = try #require(try lock.takeAway(from: holder))
            #expect(second.isValid && !first.isValid)
            #expect(FileManager.default.fileExists(atPath: path + ".1"))
            first.release()
            second.release()
        }
    }

    @Test("a lock in a folder that cannot be listed is an error") func noFolder() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/gone/a.lock"
            #expect(throws: StorageError(.unreachable, "could not lock \(path): No such file or directory")) {
                try FileLock(path: path, steps: .unobserved).attempt()
            }
        }
    }

    @Test("a released lock is free at once, even while another process is being started") func sharedDescriptor()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/a.lock"
            let claim = try #require(take(path))
            // A child process has copies of all descriptors until it calls exec.
            var file = stat()
            lstat(path, &file)
            let descriptor = try #require(
                (Int32(0)..<1024).first { descriptor in
                    var status = stat()
                    let isOpen = fstat(descriptor, &status) == 0
                    return isOpen && status.st_ino == file.st_ino && status.st_dev == file.st_dev
                })
            let copy = dup(descriptor)
            defer { close(copy) }
            claim.release()
            let next = try #require(take(path))
            #expect(next.isValid)
            next.release()
        }
    }

    private func take(_ path: String) -> FileLock.Claim? {
        guard case .acquired(let claim) = try? FileLock(path: path, steps: .unobserved).attempt() else { return nil }
        return claim
    }
}

@Suite("Unfinished files", .timeLimit(.minutes(10))) struct UnfinishedFileTests {
    @Test("writing a record does not disturb a takeover of the refresh lock")
    func writeDuringTakeover() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            guard case .acquired(let stopped) = try FileLock(path: path + ".refresh.lock", steps: .unobserved).attempt()
            else {
                Issue.record("the lock could not be acquired")
                return
            }
            let lock = FileLock(
                path: path + ".refresh.lock",
                steps: FileSteps { step in
                    guard step == .successorMade else { return }
                    PrivateFile(path: path).removeLeftovers(olderThan: 0)
                })
            guard case .busy(let holder) = try lock.attempt() else {
                Issue.record("the lock was free")
                return
            }
            let claim = try lock.takeAway(from: holder)
            #expect(claim?.isValid == true)
            claim?.release()
            stopped.release()
        }
    }

    @Test("a record does not disturb another one whose name begins with its own") func namesakes() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session"
            let other = FileTokenStore(
                path: path + ".json", time: .system,
                steps: FileSteps { step in
                    guard step == .flushed else { return }
                    PrivateFile(path: path).removeLeftovers(olderThan: 0)
                })
            let record = StoredSession(id: SessionID(), tokens: .fresh())
            try await other.write(record)
            #expect(await other.read() == .found(record))
        }
    }

    @Test("a process that lost the lock removes no file of the new holder", arguments: [true, false])
    func lostInBetween(isWriting: Bool) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            let record = StoredSession(id: SessionID(), tokens: .fresh())
            let store = FileTokenStore(path: path, time: ManualTimeSource(), activities: nil)
            try await store.write(record)
            let unfinished = folder.path + "/.session.json.1.2.tmp"
            let seen = Locked<[Bool]>([])
            try await store.update { _ in
                let isFirst = seen.withLock {
                    $0.append(FileManager.default.fileExists(atPath: unfinished))
                    return $0.count == 1
                }
                if isFirst {
                    // This process is stopped here. Another one takes over the lock and is about to write.
                    let lock = FileLock(path: path + ".lock", steps: .unobserved)
                    var claim: FileLock.Claim?
                    if case .busy(let holder) = try? lock.attempt() { claim = try? lock.takeAway(from: holder) }
                    try? Data("tokens".utf8).write(to: URL(filePath: unfinished))
                    // The new holder releases the lock, so that this process can acquire it again.
                    claim?.release()
                }
                return isWriting ? .write(record) : .delete
            }
            #expect(seen.withLock { $0 } == [false, true])
            #expect(!FileManager.default.fileExists(atPath: unfinished))
            #expect(await store.read() == (isWriting ? .found(record) : .empty))
        }
    }
}
