import Foundation
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("Locks on systems that suspend apps", .timeLimit(.minutes(10))) struct ExpiringActivityTests {
    @Test("C52: the lock is held within an expiring activity, which ends with it") func within() async throws {
        try await TemporaryFolder.with { folder in
            let system = FakeActivities()
            let lock = ProcessLock(
                path: folder.path + "/a.lock", time: ManualTimeSource(), activities: system.activities)
            let held = try await lock.acquire(lease: .seconds(45))
            #expect(system.started.withLock { $0.map(\.hasReturned) } == [false])
            held.release()
            await system.waitUntilAllReturned()
            #expect(system.started.withLock { $0.count } == 1)
        }
    }

    @Test("C52: the lock is released before the system suspends the app") func expires() async throws {
        try await TemporaryFolder.with { folder in
            let system = FakeActivities()
            let path = folder.path + "/a.lock"
            let held = try await ProcessLock(path: path, time: ManualTimeSource(), activities: system.activities)
                .acquire(lease: .seconds(45))
            system.expireLast()
            #expect(!held.isHeld)
            // Another process acquires it at once.
            guard case .acquired(let other) = try FileLock(path: path, steps: .unobserved).attempt() else {
                return #expect(Bool(false), "the lock is still held")
            }
            held.release()
            #expect(other.isValid)
            other.release()
            await system.waitUntilAllReturned()
        }
    }

    @Test("a lock that is being acquired is released before the system suspends the app") func expiresMeanwhile()
        async throws
    {
        try await TemporaryFolder.with { folder in
            for round in 0..<50 {
                let system = FakeActivities()
                let path = folder.path + "/\(round).lock"
                let isFree = Locked<Bool?>(nil)
                let isExpiring = Locked(false)
                let lock = ProcessLock(
                    path: path, time: ManualTimeSource(), activities: system.activities,
                    steps: FileSteps { step in
                        guard step == .locked else { return }
                        Thread.detachNewThread {
                            isExpiring.withLock { $0 = true }
                            system.expireLast()
                            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
                            let claim = StaleFiles.claim(descriptor)
                            close(descriptor)
                            isFree.withLock { $0 = claim == .held }
                        }
                        while !isExpiring.withLock({ $0 }) {}
                    })
                let held = try await lock.acquire(lease: .seconds(45))
                while isFree.withLock({ $0 }) == nil { await Task.yield() }
                #expect(isFree.withLock { $0 } == true, "in round \(round)")
                held.release()
                await system.waitUntilAllReturned()
            }
        }
    }

    @Test("C52: while the system grants no activity, the lock is not acquired") func refused() async throws {
        try await TemporaryFolder.with { folder in
            let system = FakeActivities()
            system.grantsActivities.withLock { $0 = false }
            let time = ManualTimeSource()
            let path = folder.path + "/a.lock"
            let waiter = Task {
                try await ProcessLock(path: path, time: time, activities: system.activities).acquire(
                    lease: .seconds(45))
            }
            await time.waitForSleepers()
            #expect(!FileManager.default.fileExists(atPath: path))
            system.grantsActivities.withLock { $0 = true }
            time.advance(by: .seconds(1))
            let held = try await waiter.value
            #expect(held.isHeld)
            held.release()
            await system.waitUntilAllReturned()
        }
    }

    @Test(
        "C52: a refresh that lost its lock stores its tokens unless another process was faster",
        arguments: [true, false])
    func lateResult(isOvertaken: Bool) async throws {
        try await TemporaryFolder.with { folder in
            let system = FakeActivities()
            let store = FileTokenStore(
                path: folder.path + "/session.json", time: .system, activities: system.activities)
            let app = try await App.signedIn(store: store)
            app.backend.invalidateAccessTokens()
            let gate = Gate()
            app.backend.afterRefresh { _ in
                await gate.pass()
                return nil
            }
            async let call = app.call()
            await gate.waitForArrivals()
            system.expireLast()
            let other = FileTokenStore(path: store.path)
            guard case .found(var record) = await other.read() else { return #expect(Bool(false), "no record") }
            if isOvertaken {
                record.rotation += 1
                record.tokens = app.backend.issue()
                record.journal = nil
                try await other.write(record)
            }
            gate.open()
            #expect(await call.isSuccess)
            guard case .found(let last) = await other.read() else { return #expect(Bool(false), "no record") }
            #expect(last.rotation == 1 && (last == record) == isOvertaken)
            #expect(try await app.tokens.validTokens().accessToken == last.tokens.accessToken)
            await system.waitUntilAllReturned()
        }
    }
}
