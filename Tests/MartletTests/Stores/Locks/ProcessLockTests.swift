import Foundation
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("The lock between processes", .timeLimit(.minutes(10))) struct ProcessLockTests {
    @Test("the lock is held by one process at a time") func exclusion() async throws {
        try await TemporaryFolder.with { folder in
            let inside = Locked((now: 0, most: 0, total: 0))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        // Each task has its own lock, as separate processes do.
                        let lock = ProcessLock(path: folder.path + "/a.lock")
                        for _ in 0..<20 {
                            let held = try await lock.acquire(lease: .seconds(600))
                            inside.withLock {
                                $0.now += 1
                                $0.most = max($0.most, $0.now)
                                $0.total += 1
                            }
                            await Task.yield()
                            #expect(held.isHeld)
                            inside.withLock { $0.now -= 1 }
                            held.release()
                            #expect(!held.isHeld)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(inside.withLock { $0.most } == 1)
            #expect(inside.withLock { $0.total } == 1_000)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.lock"])
        }
    }

    @Test("C26: a lock is taken over from a holder that exceeds its lease, and the holder notices") func takenAway()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let time = ManualTimeSource()
            let path = folder.path + "/a.lock"
            let stopped = try await ProcessLock(path: path, time: time).acquire(lease: .seconds(45))
            let next = try await time.running {
                try await ProcessLock(path: path, time: time).acquireHeld(lease: .seconds(45))
            }
            #expect(time.uptime >= .seconds(45))
            #expect(next.isHeld && !stopped.isHeld)
            // The old holder can no longer affect the new one.
            stopped.release()
            #expect(next.isHeld)
            await next.releaseNow()
            let third = try await ProcessLock(path: path, time: time).acquire(lease: .seconds(45))
            #expect(third.isHeld)
        }
    }

    @Test("C26: each time a lease ends, one of the waiting processes takes over the lock")
    func takenAwayByOne() async throws {
        try await TemporaryFolder.with { folder in
            let time = ManualTimeSource()
            let path = folder.path + "/a.lock"
            let holders = Locked<[any HeldStoreLock]>([])
            try await time.running {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            let held = try await ProcessLock(path: path, time: time).acquire(lease: .seconds(10))
                            // No holder releases it.
                            let earlier = holders.withLock { holders in
                                defer { holders.append(held) }
                                return holders
                            }
                            #expect(earlier.allSatisfy { !$0.isHeld })
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(holders.withLock { $0 }.count { $0.isHeld } == 1)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(Set(names) == ["a.lock.6", "a.lock.7"])
        }
    }

    @Test("a lock is not taken over while the device sleeps") func sleepingDevice() async throws {
        try await TemporaryFolder.with { folder in
            let time = ManualTimeSource()
            let path = folder.path + "/a.lock"
            let held = try await ProcessLock(path: path, time: time).acquire(lease: .seconds(45))
            let waiter = Task { try await ProcessLock(path: path, time: time).acquire(lease: .seconds(45)) }
            for _ in 0..<20 {
                await time.waitForSleepers()
                time.advance(by: .seconds(3600))
            }
            await time.waitForSleepers()
            #expect(held.isHeld)
            waiter.cancel()
            await #expect(throws: CancellationError.self) { try await waiter.value }
        }
    }

    @Test("each holder has its own lease, however many hold the lock before a waiter's turn") func freshLease()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let time = ManualTimeSource()
            let path = folder.path + "/a.lock"
            let lock = ProcessLock(path: path, time: time)
            let first = try await lock.acquireHeld(lease: .seconds(1))
            let waiter = Task { try await lock.acquire(lease: .seconds(1)) }
            for _ in 0..<5 {
                await time.waitForSleepers()
                time.advanceToNextSleeper()
            }
            await time.waitForSleepers()
            // Another process acquires the lock in between.
            await first.releaseNow()
            guard case .acquired(let second) = try FileLock(path: path, steps: .unobserved).attempt() else {
                return #expect(Bool(false), "the lock was not free")
            }
            let until = time.uptime + .milliseconds(900)
            while time.uptime < until {
                time.advanceToNextSleeper()
                await time.waitForSleepers()
            }
            #expect(second.isValid)
            second.release()
            let held = try await time.running { try await waiter.value }
            #expect(held.isHeld)
        }
    }

    @Test("a cancelled task stops waiting, and the next one acquires the lock") func cancellation() async throws {
        try await TemporaryFolder.with { folder in
            let time = ManualTimeSource()
            let path = folder.path + "/a.lock"
            let held = try await ProcessLock(path: path, time: time).acquireHeld(lease: .seconds(45))
            let waiter = Task { try await ProcessLock(path: path, time: time).acquire(lease: .seconds(45)) }
            await time.waitForSleepers()
            waiter.cancel()
            await #expect(throws: CancellationError.self) { try await waiter.value }
            await held.releaseNow()
            #expect(try await ProcessLock(path: path, time: time).acquire(lease: .seconds(45)).isHeld)
        }
    }

    @Test("a lock is released when its holder is deallocated") func forgotten() async throws {
        try await TemporaryFolder.with { folder in
            let time = ManualTimeSource()
            let lock = ProcessLock(path: folder.path + "/a.lock", time: time)
            _ = try await lock.acquire(lease: .seconds(45))
            #expect(try await lock.acquire(lease: .seconds(45)).isHeld)
            #expect(time.uptime == .zero)
        }
    }

    @Test("only the owner can access the lock file and the folder created for it") func permissions() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/deep/er/a.lock"
            let held = try await ProcessLock(path: path).acquire(lease: .seconds(45))
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let above = try FileManager.default.attributesOfItem(atPath: folder.path + "/deep")
            #expect(above[.posixPermissions] as? Int == 0o700)
            held.release()
        }
    }

    @Test("a lock that cannot be created is an error that names its path") func unwritable() async throws {
        let failure = await #expect(throws: StorageError.self) {
            try await ProcessLock(path: "/proc/martlet/a.lock").acquire(lease: .seconds(1))
        }
        #expect(failure?.kind == .unreachable)
        #expect(failure?.description.contains("/proc/martlet/a.lock") == true)
    }
}

extension ManualTimeSource {
    /// Runs the body while time advances from one sleeper to the next.
    func running<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let clock = Task {
            while !Task.isCancelled {
                advanceToNextSleeper()
                await Task.yield()
            }
        }
        defer { clock.cancel() }
        return try await body()
    }
}
