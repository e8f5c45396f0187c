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

@MainActor @Suite("Guest login", .english, .timeLimit(.minutes(10))) struct GuestLoginTests {
    @Test("a name registers a guest, without surrounding white space", arguments: ModelVariant.allCases)
    func registers(variant: ModelVariant) async throws {
        let backend = Backend()
        let login = try variant.login(GuestRegistration(backend.client))
        login.userName = "  Ada \n"
        let registration = login.registerGuest()
        #expect(login.state.isRegistering)
        #expect(login.state.progress?.label == "Preparing…")
        await registration.value
        #expect(login.state.isAuthenticated)
        #expect(login.state.guest == Guest(id: "7", name: "Ada"))
        #expect(login.state.progress == nil)
        #expect(login.state.errorText == nil)
        #expect(backend.tokens.state.isSignedIn)
        let form = String(decoding: try #require(backend.registrations.first).body, as: UTF8.self)
        #expect(form.contains("\r\n\r\nAda\r\n"))
    }

    @Test("two taps register one guest", arguments: ModelVariant.allCases) func doubleTap(variant: ModelVariant)
        async throws
    {
        let gate = Gate()
        let backend = Backend { _ in
            await gate.pass()
            return nil
        }
        let login = try variant.login(GuestRegistration(backend.client))
        login.userName = "Ada"
        let first = login.registerGuest()
        await gate.waitForArrivals()
        let second = login.registerGuest()
        #expect(first == second)
        gate.open()
        await second.value
        #expect(login.state.isAuthenticated)
        #expect(backend.registrations.count == 1)
    }

    @Test("an invalid name is an error, and nothing is sent", arguments: ModelVariant.allCases)
    func names(variant: ModelVariant) async throws {
        let backend = Backend()
        let login = try variant.login(GuestRegistration(backend.client), maximumNameLength: 5)
        for (name, text) in [
            ("", "Enter a name."), (" \n\t ", "Enter a name."), ("Lovelace", "The name can have at most 5 characters."),
        ] {
            login.userName = name
            #expect(login.state.errorText == nil)
            await login.registerGuest().value
            #expect(login.state.errorText == text)
            #expect(!login.state.isRegistering)
        }
        #expect(backend.transport.requests.isEmpty)
        login.userName = "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦"
        await login.registerGuest().value
        #expect(login.state.isAuthenticated)
    }

    @Test("setting the same name again keeps the error", arguments: ModelVariant.allCases)
    func unchangedName(variant: ModelVariant) async throws {
        let login = try variant.login(GuestRegistration(Backend().client))
        await login.registerGuest().value
        #expect(login.state.errorText == "Enter a name.")
        login.userName = ""
        #expect(login.state.errorText == "Enter a name.")
        login.userName = "A"
        #expect(login.state.errorText == nil)
    }

    @Test("a repeated failure is announced again", arguments: ModelVariant.allCases)
    func repeatedFailure(variant: ModelVariant) async throws {
        let login = try variant.login(GuestRegistration(Backend().client))
        await login.registerGuest().value
        let first = login.state
        await login.registerGuest().value
        #expect(login.state.errorText == first.errorText)
        #expect(login.state.failures == first.failures + 1)
    }

    @Test("a failure is shown until the user types, and the next tap tries again", arguments: ModelVariant.allCases)
    func failure(variant: ModelVariant) async throws {
        let backend = Backend { request in request.number == 1 ? .status(503) : nil }
        let login = try variant.login(GuestRegistration(backend.client))
        login.userName = "Ada"
        await login.registerGuest().value
        #expect(login.state.errorText == "The server is having problems. Try again later.")
        #expect(!login.state.isAuthenticated)
        #expect(!login.state.isRegistering)
        login.userName = "Ada L"
        #expect(login.state.errorText == nil)
        await login.registerGuest().value
        #expect(login.state.isAuthenticated)
        #expect(backend.registrations.count == 2)
    }

    @Test("a picture's upload progress is reported from start to end") func progress() async throws {
        let gate = Gate()
        let backend = Backend { _ in
            await gate.pass()
            return nil
        }
        let guests = GuestAuthService(backend.client)
        let guestRegistration = GuestRegistration(session: SessionSource(backend.tokens)) {
            name, image, monitor throws(NetworkError) in
            guard case .data(let bytes) = image else { return try await guests.register(name: name) }
            return try await guests.register(
                name: name, picture: .data(bytes, filename: "ada.jpg", contentType: "image/jpeg"), monitor: monitor)
        }
        let core = GuestLoginCore(guestRegistration, maximumNameLength: 100)
        var seen: [UploadProgress] = []
        core.onChange = { if let progress = $0.progress { seen.append(progress) } }
        core.type("Ada")
        core.choose(.data(Data(repeating: 1, count: 300_000)))
        let registration = core.registerGuest()
        await waitUntil { core.state.progress?.fraction == 1 }
        gate.open()
        await registration.value
        #expect(seen.first == UploadProgress())
        let last = try #require(seen.last)
        #expect(last.attempt == 1)
        #expect(last.fraction == 1)
        #expect(last.sent.completed > 300_000)
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.sent.completed <= $1.sent.completed })
        #expect(core.state.progress == nil)
        #expect(core.state.selectedImage == .data(Data(repeating: 1, count: 300_000)))
    }

    @Test("an unusable picture is an error, and nothing is sent", arguments: ModelVariant.allCases)
    func picture(variant: ModelVariant) async throws {
        let backend = Backend()
        let login = try variant.login(GuestRegistration(backend.client))
        login.userName = "Ada"
        login.selectedImage = .data(Data("no picture".utf8))
        await login.registerGuest().value
        #expect(login.state.errorText == "This picture cannot be used. Choose another one.")
        #expect(backend.transport.requests.isEmpty)
        login.selectedImage = nil
        #expect(login.state.errorText == nil)
        login.discardUnreadableImage()
        #expect(login.state.errorText == "This picture cannot be used. Choose another one.")
    }
}
