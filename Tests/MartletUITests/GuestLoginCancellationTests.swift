import Martlet
import MartletImages
import MartletTesting
import Testing

@testable import MartletUI

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@MainActor @Suite("Cancelling a guest login", .timeLimit(.minutes(10))) struct GuestLoginCancellationTests {
    @Test("a cancelled registration leaves no session behind and is not a failure", arguments: ModelVariant.allCases)
    func cancels(variant: ModelVariant) async throws {
        let gate = Gate()
        let backend = Backend { request in
            if request.number == 1 { await gate.pass() }
            return nil
        }
        let login = try variant.login(GuestRegistration(backend.client))
        login.userName = "Ada"
        let first = login.registerGuest()
        await gate.waitForArrivals()
        login.cancelRegistration()
        #expect(!login.state.isRegistering)
        await first.value
        #expect(login.state.errorText == nil)
        #expect(!login.state.isAuthenticated)

        // The response to the first registration arrives during the second.
        login.userName = "Grace"
        let second = login.registerGuest()
        gate.open()
        await second.value
        #expect(login.state.isAuthenticated)
        #expect(backend.registrations.map(\.number) == [1, 2])
        #expect(try await backend.tokens.validTokens().accessToken.reveal() == "a2")
    }

    @Test("cancelling and starting again registers another guest", arguments: ModelVariant.allCases)
    func cancelsAndStarts(variant: ModelVariant) async throws {
        let gate = Gate()
        let backend = Backend { request in
            if request.number == 1 { await gate.pass() }
            return nil
        }
        let login = try variant.login(GuestRegistration(backend.client))
        login.userName = "Ada"
        let first = login.registerGuest()
        await gate.waitForArrivals()
        login.cancelRegistration()
        login.userName = "Grace"
        let second = login.registerGuest()
        await first.value
        gate.open()
        await second.value
        #expect(login.state.isAuthenticated)
        #expect(backend.registrations.count == 2)
        let form = String(decoding: try #require(backend.registrations.last).body, as: UTF8.self)
        #expect(form.contains("\r\n\r\nGrace\r\n"))
    }

    @Test("a response that arrives after the cancellation changes nothing", arguments: ModelVariant.allCases)
    func late(variant: ModelVariant) async throws {
        let gates = ["Ada": Gate(), "Grace": Gate()]
        let login = try variant.login(
            GuestRegistration { name, _, _ throws(NetworkError) in
                await gates[name]?.pass()
                return Guest(id: name)
            })
        login.userName = "Ada"
        let first = login.registerGuest()
        await gates["Ada"]?.waitForArrivals()
        login.cancelRegistration()
        login.userName = "Grace"
        let second = login.registerGuest()
        await gates["Grace"]?.waitForArrivals()
        gates["Ada"]?.open()
        await first.value
        #expect(login.state.isRegistering)
        #expect(login.state.guest == nil)
        #expect(login.registerGuest() == second)
        gates["Grace"]?.open()
        await second.value
        #expect(login.state.guest?.id == "Grace")
    }

    @Test("a registration whose task was cancelled can be repeated", arguments: ModelVariant.allCases)
    func cancelledTask(variant: ModelVariant) async throws {
        let backend = Backend()
        let login = try variant.login(GuestRegistration(backend.client))
        login.userName = "Ada"
        let registration = login.registerGuest()
        registration.cancel()
        await registration.value
        #expect(!login.state.isRegistering)
        #expect(login.state.errorText == nil)
        await login.registerGuest().value
        #expect(login.state.isAuthenticated)
    }
}
