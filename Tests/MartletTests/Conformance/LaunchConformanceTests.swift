import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: the session at launch", .timeLimit(.minutes(10))) struct LaunchConformanceTests {
    @Test("C62: at launch, an expired session is renewed") func restoreExpired() async throws {
        let backend = SimulatedBackend()
        let time = ManualTimeSource()
        let record = StoredSession.expired(backend.issue(), at: time.wallClock)
        let app = App(backend, store: InMemoryTokenStore(record), time: time)
        #expect(await app.tokens.restore().isSignedIn)
        #expect(backend.refreshCalls == 1)
    }

    @Test("C62: at launch, a revoked session expires, and an empty store means signed out") func restoreRevoked()
        async throws
    {
        let backend = SimulatedBackend()
        let time = ManualTimeSource()
        let record = StoredSession.expired(backend.issue(), at: time.wallClock)
        backend.revokeSession()
        let app = App(backend, store: InMemoryTokenStore(record), time: time)
        #expect(await app.tokens.restore() == .expired(.refreshTokenRejected(code: "invalid_grant")))
        #expect(await App().tokens.restore() == .signedOut)
    }

    @Test("C62: at launch and offline, the session is signed in and stale") func restoreOffline() async throws {
        let backend = SimulatedBackend()
        let time = ManualTimeSource()
        let record = StoredSession.expired(backend.issue(), at: time.wallClock)
        backend.beforeRefresh { _ in throw TransportError.offline }
        let app = App(backend, store: InMemoryTokenStore(record), time: time)
        guard case .signedIn(let session) = await app.tokens.restore() else {
            Issue.record("\(app.tokens.state)")
            return
        }
        #expect(session.isStale)
    }

    @Test("a store that cannot be read does not mean signed out, and is read again") func unavailable() async throws {
        let store = FailingTokenStore()
        store.isLocked = true
        let app = App(store: store)
        guard case .unavailable = await app.tokens.restore() else {
            Issue.record("\(app.tokens.state)")
            return
        }
        guard case .storageUnavailable = await app.call().error else {
            Issue.record("the store's error should be the error of the call")
            return
        }
        store.isLocked = false
        #expect(await app.tokens.restore() == .signedOut)
    }
}
