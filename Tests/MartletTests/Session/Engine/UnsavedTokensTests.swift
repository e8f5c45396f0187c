import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Tokens that must be saved before they are used") struct UnsavedTokensTests {
    private static let policy: SessionPolicy = {
        var policy = SessionPolicy()
        policy.requiresSavedTokens = true
        return policy
    }()

    @Test("if the new tokens cannot be saved, rejected calls fail with an error that says so, and are not replayed")
    func notReplayed() async throws {
        let store = FailingTokenStore()
        let app = try await App.signedIn(store: store, policy: Self.policy)
        app.backend.invalidateAccessTokens()
        store.fail(.write, times: nil)
        for result in await app.burst(5) {
            guard case .failure(.refreshFailed(_, let error, _)) = result else {
                Issue.record("\(result)")
                continue
            }
            #expect(error.kind == .notSaved && !error.mayHaveSpentToken)
            #expect("\(error)".contains("kept in memory"))
        }
        #expect(app.backend.refreshCalls == 1)
        guard case .signedIn(let session) = app.tokens.state else {
            Issue.record("\(app.tokens.state)")
            return
        }
        #expect(!session.isSaved)
        // Neither another call nor the app itself gets the tokens, and their refresh token is not spent.
        await #expect(throws: SessionError.self) { try await app.tokens.validTokenBundle() }
        await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        #expect(app.tokens.currentBundle == nil)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("once a retry has saved the tokens, calls succeed with them, without another refresh")
    func recovered() async throws {
        let store = FailingTokenStore()
        let app = try await App.signedIn(store: store, policy: Self.policy)
        app.backend.invalidateAccessTokens()
        store.fail(.write, times: nil)
        _ = await app.call()
        store.recover()
        while case .signedIn(let session) = app.tokens.state, !session.isSaved {
            app.time.advanceToNextSleeper()
            await Task.yield()
        }
        _ = try await app.call().get()
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("by default, tokens that cannot be saved are used from memory") func usedFromMemory() async throws {
        let store = FailingTokenStore()
        let app = try await App.signedIn(store: store)
        app.backend.invalidateAccessTokens()
        store.fail(.write, times: nil)
        _ = try await app.call().get()
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("the tokens of a sign-in are used even if they cannot be saved") func signIn() async throws {
        let store = FailingTokenStore()
        store.fail(.write, times: nil)
        let app = try await App.signedIn(store: store, policy: Self.policy)
        _ = try await app.call().get()
        #expect(app.backend.refreshCalls == 0)
    }

    @Test("tokens that another process has saved are used at once") func adopted() throws {
        let ada = StoredSession(id: SessionID(rawValue: "ada"), generation: 1, bundle: .fresh(1))
        var machine = SessionStateMachine.restored(ada, policy: Self.policy, sharesStore: true)
        _ = machine.refreshForced(by: 1, at: .zero)
        let started = machine.takeRefresh()
        let job = try #require(started)
        #expect(machine.answer(preparing: job, .found(ada)) == .send)
        _ = machine.refreshFinished(
            job, .success(.fresh(2), nil, estimatedExpiry: nil), at: .zero, jitter: 0)
        machine.answer(.write, .found(ada), failure: StorageError(.unreachable, "full"))
        guard case .failure(.refreshFailed(let error)) = machine.tokenRequested(by: 2, at: .zero) else {
            Issue.record("the tokens are handed out")
            return
        }
        #expect(error.kind == .notSaved && machine.cachedCredential == nil)
        let newer = ada.renewed(rotation: 2, .fresh(3))
        machine.answer(.read, .found(newer))
        #expect(machine.cachedCredential?.credential.stamp == newer.stamp)
    }
}
