import Foundation
import MartletGuests
import MartletTesting
import Testing

@testable import Martlet

@Suite("The request of a sign-in", .timeLimit(.minutes(10))) struct SignInTests {
    @Test("a cancelled guest registration sends nothing") func cancelledGuest() async throws {
        let app = App()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await error { try await GuestAuthService(app.client).register(name: "Ada") }
        }
        #expect(await task.value?.isCancelled == true)
        #expect(app.transport.requests.isEmpty)
    }

    @Test("a session that the server has ended is not replaced automatically") func expiredSession() async throws {
        let log = Log()
        let app = try await App.signedIn { $0.automaticSignIn = { _ in log.add("signs in") } }
        app.backend.invalidateAccessTokens()
        app.backend.revokeSession()
        for _ in 1...2 {
            guard case .sessionExpired = await app.call().error else {
                Issue.record("the call did not fail with the end of its session")
                return
            }
        }
        #expect(log.lines == [])
    }

    @Test("a sign-in carries no token of the previous user, and interceptors see its endpoint")
    func signInIsUnsigned() async throws {
        struct Login: APIEndpoint { let path: RequestPath = "/public/login" }
        struct EndpointLog: RequestInterceptor {
            let log: Log
            func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
                log.add("\(type(of: context.endpoint))")
            }
        }
        let log = Log()
        let app = try await App.signedIn { $0.interceptors = [EndpointLog(log: log)] }
        app.backend.beforeCall { _ in .json(#"{"accessToken":"next"}"#) }
        let _: NoContent = try await app.client.signIn(Login())
        #expect(app.transport.requests.last { $0.path != "/auth/logout" }?.headers[.authorization] == nil)
        #expect(log.lines == ["Login"])
    }
}
