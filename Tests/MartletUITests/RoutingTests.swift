import Martlet
import Testing

@testable import MartletUI

@Suite("Routing that strands no user", .timeLimit(.minutes(10))) struct RoutingTests {
    private static let kinds: [StorageError.Kind] = [
        .locked, .unreachable, .corrupt, .tooNew, .unsafePermissions, .foreign,
    ]
    private static let session = SignedInSession(id: SessionID())

    private static func status(_ states: SessionState...) -> SessionStatus {
        var status = SessionStatus()
        status.start()
        for state in states { status.follow(state) }
        return status
    }

    @Test("every storage error has a message and ways to continue, and none locks the user out", arguments: kinds)
    func stores(kind: StorageError.Kind) {
        let error = StorageError(kind, "errno 13")
        for state in [SessionState.unavailable(error), .unreadable(error)] {
            let route = Self.status(state).route
            #expect(route.message?.isEmpty == false)
            #expect(route.recoveryActions.contains(.signIn) && route.recoveryActions.contains(.retry))
        }
    }

    @Test("the first way to continue is to unlock, to retry or to sign in, depending on the error")
    func best() {
        let first = Self.kinds.map { StorageError($0, "").recoveryActions.first }
        #expect(first == [.unlock, .retry, .signIn, .signIn, .retry, .retry])
    }

    @Test("every other state leads to the login, to the content, or ends by itself") func others() {
        #expect(Self.status(.loading).route.recoveryActions == [])
        #expect(Self.status(.signedIn(Self.session)).route.recoveryActions == [])
        #expect(Self.status(.signedOut).route.recoveryActions == [.signIn])
        #expect(Self.status(.expired(.noRefreshToken)).route.recoveryActions == [.signIn])
    }

    @Test("after the server has ended the session, its content is hidden, unless the app wants it behind the login")
    func expired() {
        let status = Self.status(.signedIn(Self.session), .expired(.noRefreshToken))
        #expect(status.route == .signInAgain(.noRefreshToken))
        #expect(status.shownSession(showsExpiredContent: false) == nil)
        #expect(status.shownSession(showsExpiredContent: true) == Self.session)
    }

    @Test("content is shown only for a session that can be read, whatever the app wants", arguments: kinds)
    func unreadable(kind: StorageError.Kind) {
        let error = StorageError(kind, "")
        for state in [SessionState.unavailable(error), .unreadable(error), .signedOut] {
            let status = Self.status(.signedIn(Self.session), state)
            #expect(status.shownSession(showsExpiredContent: true) == nil)
        }
    }
}
