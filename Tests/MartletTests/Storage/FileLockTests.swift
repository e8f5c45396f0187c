import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("The lock's row of files") struct FileLockTests {
    @Test("C26: is never taken away from a holder who has come since") func freshHolder() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/a.lock"
            let stale = try #require(take(path))
            let fresh = Locked<FileLock.Claim?>(nil)
            // Between the last look at the stale holder and the moment of taking away, it lets go and another one comes.
            let lock = FileLock(
                path: path,
                steps: FileSteps { step in
                    guard step == .successorMade else { return }
                    stale.drop()
                    fresh.withLock { $0 = take(path) }
                })
            guard case .busy(let holder) = try lock.attempt() else {
                Issue.record("it was held")
                return
            }
            #expect(try lock.takeAway(from: holder) == nil)
            let taken = fresh.withLock { $0 }
            let claim = try #require(taken)
            #expect(claim.stands)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.lock"])
            claim.drop()
            let next = try #require(take(path))
            #expect(next.stands)
            next.drop()
        }
    }

    @Test(
        "is not confused by other files beside it",
        arguments: ["0", "+5", "-1", "007", "x", "1x", "9223372036854775807", "99999999999999999999", ""])
    func otherFiles(number: String) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/a.lock"
            try folder.file("a.lock.\(number)")
            try folder.file("b.a.lock.3")
            let first = try #require(take(path))
            let lock = FileLock(path: path, steps: .untold)
            guard case .busy(let holder) = try lock.attempt() else {
                Issue.record("it was held")
                return
            }
            let second = try #require(try lock.takeAway(from: holder))
            #expect(second.stands && !first.stands)
            #expect(FileManager.default.fileExists(atPath: path + ".1"))
            first.drop()
            second.drop()
        }
    }

    @Test("is free at once when it is given back, whatever process is being started meanwhile") func sharedDescriptor()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/a.lock"
            let claim = try #require(take(path))
            // A process that is being started has copies of all descriptors until its program is loaded.
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
            claim.drop()
            let next = try #require(take(path))
            #expect(next.stands)
            next.drop()
        }
    }

    private func take(_ path: String) -> FileLock.Claim? {
        guard case .taken(let claim) = try? FileLock(path: path, steps: .untold).attempt() else { return nil }
        return claim
    }
}

@Suite("What is in the middle of being written") struct UnfinishedFileTests {
    @Test("a record that is written does not disturb the lock of a refresh that is taken away meanwhile")
    func writeDuringTakeover() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            guard case .taken(let stopped) = try FileLock(path: path + ".refresh.lock", steps: .untold).attempt() else {
                Issue.record("nobody has it")
                return
            }
            let lock = FileLock(
                path: path + ".refresh.lock",
                steps: FileSteps { step in
                    guard step == .successorMade else { return }
                    PrivateFile(path: path).removeLeftovers(olderThan: 0)
                })
            guard case .busy(let holder) = try lock.attempt() else {
                Issue.record("it was held")
                return
            }
            let claim = try lock.takeAway(from: holder)
            #expect(claim?.stands == true)
            claim?.drop()
            stopped.drop()
        }
    }

    @Test("a record does not disturb another one, whose name begins with its own") func namesakes() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session"
            let other = FileTokenStore(
                path: path + ".json", time: .system,
                steps: FileSteps { step in
                    guard step == .flushed else { return }
                    PrivateFile(path: path).removeLeftovers(olderThan: 0)
                })
            let record = StoredSession(id: SessionID(), bundle: .fresh())
            try await other.write(record)
            #expect(await other.read() == .found(record))
        }
    }

    @Test("who has lost the lock removes nothing that its new holder is at work on", arguments: [true, false])
    func lostInBetween(isWriting: Bool) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            let record = StoredSession(id: SessionID(), bundle: .fresh())
            let store = FileTokenStore(path: path, time: ManualTimeSource(), activities: nil)
            try await store.write(record)
            let unfinished = folder.path + "/.session.json.1.2.tmp"
            let seen = Locked<[Bool]>([])
            let other = Locked<FileLock.Claim?>(nil)
            try await store.update { _ in
                let isFirst = seen.withLock {
                    $0.append(FileManager.default.fileExists(atPath: unfinished))
                    return $0.count == 1
                }
                if isFirst {
                    // This process is stopped here. Another one takes the lock away and is about to write.
                    let lock = FileLock(path: path + ".lock", steps: .untold)
                    if case .busy(let holder) = try? lock.attempt() {
                        other.withLock { $0 = try? lock.takeAway(from: holder) }
                    }
                    try? Data("tokens".utf8).write(to: URL(filePath: unfinished))
                    // The new holder ends, so that this one's next turn comes.
                    other.withLock { $0?.drop() }
                }
                return isWriting ? .write(record) : .delete
            }
            #expect(seen.withLock { $0 } == [false, true])
            #expect(!FileManager.default.fileExists(atPath: unfinished))
            #expect(await store.read() == (isWriting ? .found(record) : .empty))
        }
    }
}
