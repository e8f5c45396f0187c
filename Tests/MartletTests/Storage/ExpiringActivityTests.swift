import Dispatch
import Foundation
import MartletTesting
import Testing

@testable import Martlet

/// Plays the system: grants activities or not, and ends them when told to.
private final class ActivityStage: Sendable {
    struct Performance {
        let block: @Sendable (Bool) -> Void
        var hasReturned = false
    }

    let grants = Locked(true)
    let performances = Locked<[Performance]>([])

    var activities: ExpiringActivities {
        ExpiringActivities { _, block in
            guard self.grants.withLock({ $0 }) else {
                // Where it grants nothing the system says so at once.
                DispatchQueue.global().async { block(true) }
                return
            }
            let index = self.performances.withLock {
                $0.append(Performance(block: block))
                return $0.count - 1
            }
            // On a thread of its own, which lasts as long as the activity does.
            Thread.detachNewThread {
                block(false)
                self.performances.withLock { $0[index].hasReturned = true }
            }
        }
    }

    func expireLast() {
        let block = performances.withLock { $0.last?.block }
        block?(true)
    }

    func waitUntilAllReturned() async {
        while performances.withLock({ !$0.allSatisfy(\.hasReturned) }) { await Task.yield() }
    }
}

@Suite("Where the system suspends apps") struct ExpiringActivityTests {
    @Test("C52: the lock is held within an activity that ends with it") func within() async throws {
        try await TemporaryFolder.with { folder in
            let stage = ActivityStage()
            let lock = ProcessLock(
                path: folder.path + "/a.lock", time: ManualTimeSource(), activities: stage.activities)
            let held = try await lock.acquire(lease: .seconds(45))
            #expect(stage.performances.withLock { $0.map(\.hasReturned) } == [false])
            held.release()
            await stage.waitUntilAllReturned()
            #expect(stage.performances.withLock { $0.count } == 1)
        }
    }

    @Test("C52: the lock is let go before the system suspends the app") func expires() async throws {
        try await TemporaryFolder.with { folder in
            let stage = ActivityStage()
            let path = folder.path + "/a.lock"
            let held = try await ProcessLock(path: path, time: ManualTimeSource(), activities: stage.activities)
                .acquire(lease: .seconds(45))
            stage.expireLast()
            #expect(!held.isHeld)
            // Another process has it at once.
            guard case .taken(let other) = try FileLock(path: path, steps: .untold).attempt() else {
                return #expect(Bool(false), "the lock is still held")
            }
            held.release()
            #expect(other.stands)
            other.drop()
            await stage.waitUntilAllReturned()
        }
    }

    @Test("C52: while the system grants no activity the lock is not taken") func refused() async throws {
        try await TemporaryFolder.with { folder in
            let stage = ActivityStage()
            stage.grants.withLock { $0 = false }
            let time = ManualTimeSource()
            let path = folder.path + "/a.lock"
            let waiter = Task {
                try await ProcessLock(path: path, time: time, activities: stage.activities).acquire(lease: .seconds(45))
            }
            await time.waitForSleepers()
            #expect(!FileManager.default.fileExists(atPath: path))
            stage.grants.withLock { $0 = true }
            time.advance(by: .seconds(1))
            let held = try await waiter.value
            #expect(held.isHeld)
            held.release()
            await stage.waitUntilAllReturned()
        }
    }

    @Test(
        "C52: a refresh whose lock was let go brings its tokens home, if nobody else was faster",
        arguments: [true, false])
    func lateResult(isOvertaken: Bool) async throws {
        try await TemporaryFolder.with { folder in
            let stage = ActivityStage()
            let store = FileTokenStore(
                path: folder.path + "/session.json", time: .system, activities: stage.activities)
            let app = try await App.signedIn(store: store)
            app.backend.invalidateAccessTokens()
            let gate = Gate()
            app.backend.afterRefresh { _ in
                await gate.pass()
                return nil
            }
            async let call = app.call()
            await gate.waitForArrivals()
            stage.expireLast()
            let other = FileTokenStore(path: store.path)
            guard case .found(var record) = await other.read() else { return #expect(Bool(false), "no record") }
            if isOvertaken {
                record.rotation += 1
                record.bundle = app.backend.issue()
                record.journal = nil
                try await other.write(record)
            }
            gate.open()
            #expect(await call.isSuccess)
            guard case .found(let last) = await other.read() else { return #expect(Bool(false), "no record") }
            #expect(last.rotation == 1 && (last == record) == isOvertaken)
            #expect(try await app.tokens.validToken() == last.bundle.accessToken)
            await stage.waitUntilAllReturned()
        }
    }
}
