import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("The end of a program", .timeLimit(.minutes(10))) struct PendingWorkTests {
    /// An app whose token is still valid, but is refreshed ahead of time. The response to the refresh is held.
    private static func app(holding response: Gate, _ store: any TokenStore = .inMemory) async throws -> App {
        let backend = SimulatedBackend()
        backend.state.withLock { $0.lifetime = 900 }
        backend.afterRefresh { _ in
            await response.pass()
            return nil
        }
        let app = App(backend, store: store)
        try await app.tokens.signIn(with: backend.issue())
        app.time.advance(by: .seconds(895))
        return app
    }

    private static func finish(_ app: App, within limit: Duration = .seconds(30)) -> (Task<Bool, Never>, Locked<Bool>) {
        let hasReturned = Locked(false)
        let task = Task {
            let isDone = await app.tokens.finishPendingWork(within: limit)
            hasReturned.withLock { $0 = true }
            return isDone
        }
        return (task, hasReturned)
    }

    @Test("waits until the tokens of a refresh that no call waits for are stored") func waits() async throws {
        let (response, store) = (Gate(), FailingTokenStore())
        let app = try await Self.app(holding: response, store)
        #expect(await app.call().isSuccess)
        await response.waitForArrivals()
        let (finish, hasReturned) = Self.finish(app)
        for _ in 0..<200 { await Task.yield() }
        #expect(!hasReturned.withLock { $0 })
        response.open()
        #expect(await finish.value)
        guard case .found(let record) = await store.read() else {
            Issue.record("there is no session")
            return
        }
        #expect(record.tokens.refreshToken == "refresh-2" && !record.hasRefreshJournal)
    }

    @Test("is not done while the store cannot be written") func unwritable() async throws {
        let (response, store) = (Gate(), FailingTokenStore())
        response.open()
        let app = try await Self.app(holding: response, store)
        store.fail(.write, times: nil)
        #expect(await app.call().isSuccess)
        #expect(await !app.tokens.finishPendingWork())
        store.recover()
        while await !app.tokens.finishPendingWork() {
            app.time.advanceToNextSleeper()
            await Task.yield()
        }
        guard case .found(let record) = await store.read() else {
            Issue.record("there is no session")
            return
        }
        #expect(record.tokens.refreshToken == "refresh-2")
    }

    @Test("asks a store that has failed once more") func failedOnce() async throws {
        let (response, store) = (Gate(), FailingTokenStore())
        let app = try await Self.app(holding: response, store)
        #expect(await app.call().isSuccess)
        await response.waitForArrivals()
        store.fail(.write)
        response.open()
        #expect(await app.tokens.finishPendingWork())
        #expect(await store.record?.tokens.refreshToken == "refresh-2")
    }

    @Test("does not make a store that fails be asked more often later") func failingStore() async throws {
        func writes(_ times: Int) async throws -> Int {
            let (response, store) = (Gate(), FailingTokenStore())
            response.open()
            let app = try await Self.app(holding: response, store)
            store.fail(.write, times: nil)
            #expect(await app.call().isSuccess)
            for _ in 0..<times { #expect(await !app.tokens.finishPendingWork()) }
            let before = store.operations.count { $0 == .write }
            for _ in 0..<6000 {
                app.time.advance(by: .milliseconds(100))
                await Task.yield()
            }
            return store.operations.count { $0 == .write } - before
        }
        #expect(try await writes(5) <= (try await writes(1)))
    }

    @Test("a program that does not wait loses its session at a strict server") func lost() async throws {
        let (response, store) = (Gate(), FailingTokenStore())
        let app = try await Self.app(holding: response, store)
        #expect(await app.call().isSuccess)
        await response.waitForArrivals()
        guard case .found(let record) = await store.read() else {
            Issue.record("there is no session")
            return
        }
        // The next run finds what this one has stored when it exits.
        let left = AnyTokenStore.inMemory
        try await left.write(record)
        let next = App(app.backend, store: left, time: app.time)
        app.backend.afterRefresh(nil)
        app.time.advance(by: .seconds(60))
        guard case .sessionExpired(_, let reason, _) = await next.call().error else {
            Issue.record("the session lives")
            return
        }
        #expect(reason == .rotationLost)
        response.open()
    }

    @Test("returns at once if there is nothing to do, and false after its limit")
    func limits() async throws {
        let response = Gate()
        let app = try await Self.app(holding: response)
        #expect(await app.tokens.finishPendingWork())
        #expect(await app.call().isSuccess)
        await response.waitForArrivals()
        let sleepers = app.time.sleeperCount
        let (late, _) = Self.finish(app, within: .seconds(5))
        await app.time.waitForSleepers(sleepers + 1)
        app.time.advance(by: .seconds(5))
        #expect(await !late.value)
        response.open()
        #expect(await app.tokens.finishPendingWork())
    }

    @Test("a cancelled task waits as well") func cancelled() async throws {
        let response = Gate()
        let app = try await Self.app(holding: response)
        let idle = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await app.tokens.finishPendingWork()
        }
        #expect(await idle.value)
        #expect(await app.call().isSuccess)
        await response.waitForArrivals()
        let (finish, hasReturned) = Self.finish(app)
        finish.cancel()
        for _ in 0..<200 { await Task.yield() }
        #expect(!hasReturned.withLock { $0 })
        response.open()
        #expect(await finish.value)
    }
}
