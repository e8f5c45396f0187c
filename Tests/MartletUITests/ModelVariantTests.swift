import Martlet
import MartletTesting
import Observation
import Testing

@testable import MartletUI

#if canImport(Combine)
    import Combine
#elseif OpenCombine
    import OpenCombine
#endif

@MainActor @Suite("Observing the models", .timeLimit(.minutes(10))) struct ModelVariantTests {
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("an observable model reports changes to its readers") func observation() async {
        let login = GuestLoginModel(GuestRegistration { name, _, _ in Guest(id: name) })
        let told = Locked(0)
        withObservationTracking {
            _ = login.isAuthenticated
        } onChange: {
            told.withLock { $0 += 1 }
        }
        login.userName = "Ada"
        #expect(told.withLock { $0 } == 1)
        await login.registerGuest().value
        #expect(login.isAuthenticated)
        #expect(login.guest?.id == "Ada")
        #expect(login.progress == nil)

        let session = SessionModel(SessionSource(state: { .signedOut }))
        withObservationTracking {
            _ = session.route
        } onChange: {
            told.withLock { $0 += 1 }
        }
        await session.run()
        #expect(told.withLock { $0 } == 2)
        #expect(session.route == .login)
        #expect(session.session == nil)
    }

    #if canImport(Combine) || OpenCombine
        @Test("a view model publishes each state, and announces it before it changes") func publishing()
            async
        {
            let login = GuestLoginViewModel(GuestRegistration { name, _, _ in Guest(id: name) })
            var seen: [Bool] = []
            var changes = 0
            let states = login.$state.map(\.isAuthenticated).sink { seen.append($0) }
            let objects = login.objectWillChange.sink { changes += 1 }
            login.userName = "Ada"
            #expect(changes > 0)
            await login.registerGuest().value
            #expect(seen.first == false)
            #expect(seen.last == true)
            #expect(login.isAuthenticated)
            #expect(login.guest?.id == "Ada")
            #expect(login.errorText == nil)
            #expect(!login.isRegistering)
            states.cancel()
            objects.cancel()

            let session = SessionViewModel(SessionSource(state: { .signedOut }))
            var routes: [SessionRoute] = []
            let statuses = session.$status.sink { routes.append($0.route) }
            await session.run()
            #expect(routes.first == .loading)
            #expect(routes.last == .login)
            #expect(session.route == .login)
            #expect(session.session == nil)
            statuses.cancel()
        }
    #endif

    @Test("a model that is made later from a core shows the core's status at once", arguments: ModelVariant.allCases)
    func madeLater(variant: ModelVariant) async throws {
        func other<Model: SessionRouting>(_ model: Model) -> any SessionRouting { Model(core: model.core) }
        let first = try variant.session(SessionSource(state: { .signedOut }))
        await first.run()
        #expect(first.status.route == .login)
        #expect(other(first).status == first.status)
    }

    @Test("a released model is deallocated while its registration completes", arguments: ModelVariant.allCases)
    func dropped(variant: ModelVariant) async throws {
        let gate = Gate()
        var login: (any GuestLogin)? = try variant.login(
            GuestRegistration { name, _, _ throws(NetworkError) in
                await gate.pass()
                return Guest(id: name)
            })
        login?.userName = "Ada"
        let registration = try #require(login?.registerGuest())
        await gate.waitForArrivals()
        weak let left = login
        login = nil
        #expect(left == nil)
        gate.open()
        await registration.value
    }
}
