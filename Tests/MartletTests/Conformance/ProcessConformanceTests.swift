import Foundation
import MartletTesting
import Testing

@testable import Martlet

/// Each `App` acts as its own process: the instances share nothing but the record file.
@Suite("Conformance: processes that share a record", .timeLimit(.minutes(10))) struct ProcessConformanceTests {
    @Test(
        "C23: an app and its widget that start with an expired token renew it once") func appAndWidget() async throws
    {
        try await TemporaryFolder.with { folder in
            let backend = SimulatedBackend()
            let path = folder.path + "/session.json"
            _ = try await App.signedIn(backend, store: FileTokenStore(path: path))
            backend.invalidateAccessTokens()
            let apps = (0..<5).map { _ in App(backend, store: FileTokenStore(path: path)) }
            await withTaskGroup(of: Bool.self) { group in
                for app in apps { group.addTask { await app.burst(10).allSucceeded } }
                for await allSucceeded in group { #expect(allSucceeded) }
            }
            #expect(backend.refreshCalls == 1 && backend.reuseDetected == 0)
        }
    }

    @Test("C24: a rotation by another process is noticed without a restart and without a call") func rotationNoticed()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let (backend, one, other) = try await twoProcesses(folder)
            var events = other.tokens.events.makeAsyncIterator()
            try await one.tokens.refresh()
            let stamp = one.tokens.beginCall(at: one.tokens.time.uptime).credential?.stamp
            while let event = await events.next() {
                if case .adopted(let adopted) = event, adopted == stamp { break }
            }
            #expect(try await other.tokens.validTokens().accessToken == one.tokens.validTokens().accessToken)
            #expect(backend.refreshCalls == 1)
        }
    }

    @Test("a sign-out by another process ends the session here without a restart") func signOutNoticed() async throws {
        try await TemporaryFolder.with { folder in
            let (_, one, other) = try await twoProcesses(folder)
            await one.tokens.signOut()
            for await state in other.tokens.states {
                if state == .signedOut { break }
            }
            guard case .signInRequired = await other.call().error else {
                Issue.record("a call was sent in a session that another process has ended")
                return
            }
        }
    }

    @Test("a user who signs in through another process is signed in here as well") func switchNoticed() async throws {
        try await TemporaryFolder.with { folder in
            let (backend, one, other) = try await twoProcesses(folder)
            let bob = try await one.tokens.signIn(with: backend.issue(), account: SessionAccount(userID: "bob"))
            for await state in other.tokens.states {
                if case .signedIn(let session) = state, session.id == bob.id { break }
            }
            #expect(await other.call().isSuccess)
            #expect(backend.refreshCalls == 0)
        }
    }

    @Test("a sign-out does not wait for another process's refresh, and the result of that refresh is discarded")
    func signOutDuringRefreshElsewhere() async throws {
        try await TemporaryFolder.with { folder in
            let (backend, one, other) = try await twoProcesses(folder)
            let gate = Gate()
            backend.afterRefresh { _ in
                await gate.pass()
                return nil
            }
            let events = one.tokens.events
            let refresh = Task { try await one.tokens.refresh() }
            await gate.waitForArrivals()
            await other.tokens.signOut()
            #expect(await FileTokenStore(path: folder.path + "/session.json").read().isEmpty)
            gate.open()
            await #expect(throws: SessionError.self) { try await refresh.value }
            #expect(await events.first { $0 == .revoked } != nil)
            #expect(one.tokens.state == .signedOut && other.tokens.state == .signedOut)
            #expect(await FileTokenStore(path: folder.path + "/session.json").read().isEmpty)
        }
    }

    @Test("C26: a process stopped during its refresh is waited for no longer than its lease") func stopped()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let backend = SimulatedBackend()
            backend.state.withLock { $0.grantsGrace = true }
            let path = folder.path + "/session.json"
            let gate = Gate()
            let one = try await App.signedIn(backend, store: FileTokenStore(path: path))
            backend.afterRefresh { _ in
                if gate.arrivals == 0 { await gate.pass() }
                return nil
            }
            // From here on this process's clock stands still, and its response does not arrive.
            let stopped = Task { try await one.tokens.refresh() }
            await gate.waitForArrivals()

            let time = ManualTimeSource()
            let other = App(
                backend, store: FileTokenStore(path: path, time: time, activities: nil), time: ManualTimeSource())
            try await time.running { _ = try await other.tokens.refresh() }
            #expect(time.uptime >= SessionPolicy().lockLease)
            #expect(backend.refreshCalls == 2 && backend.reuseDetected == 0)
            let current = try await other.tokens.validTokens().accessToken

            // When the stopped process continues, it adopts the current record.
            gate.open()
            _ = try await stopped.value
            #expect(try await one.tokens.validTokens().accessToken == current)
            guard case .found(let record) = await FileTokenStore(path: path).read() else {
                Issue.record("the record was deleted")
                return
            }
            #expect(record.tokens.accessToken == current && record.rotation == 1)
        }
    }

    /// Two processes that have both read the record and watch it.
    private func twoProcesses(_ folder: TemporaryFolder) async throws -> (SimulatedBackend, App, App) {
        let backend = SimulatedBackend()
        let path = folder.path + "/session.json"
        let one = try await App.signedIn(backend, store: FileTokenStore(path: path))
        let other = App(backend, store: FileTokenStore(path: path))
        #expect(await other.tokens.restore().isSignedIn)
        return (backend, one, other)
    }
}
