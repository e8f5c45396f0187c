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

@MainActor @Suite("A guest's login") struct GuestLoginTests {
    @Test("a name signs a guest in, without the blanks around it", arguments: Face.allCases)
    func registers(face: Face) async throws {
        let backend = Backend()
        let login = try face.login(GuestRegistration(backend.client))
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

    @Test("two taps make one guest", arguments: Face.allCases) func doubleTap(face: Face) async throws {
        let gate = Gate()
        let backend = Backend { _ in
            await gate.pass()
            return nil
        }
        let login = try face.login(GuestRegistration(backend.client))
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

    @Test("without a name nothing is sent, and the person is told", arguments: Face.allCases)
    func names(face: Face) async throws {
        let backend = Backend()
        let login = try face.login(GuestRegistration(backend.client), longestName: 5)
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

    @Test("a field that hands over the same name again takes no message away", arguments: Face.allCases)
    func unchangedName(face: Face) async throws {
        let login = try face.login(GuestRegistration(Backend().client))
        await login.registerGuest().value
        #expect(login.state.errorText == "Enter a name.")
        login.userName = ""
        #expect(login.state.errorText == "Enter a name.")
        login.userName = "A"
        #expect(login.state.errorText == nil)
    }

    @Test("the same failure twice is two failures to be read out", arguments: Face.allCases)
    func repeatedFailure(face: Face) async throws {
        let login = try face.login(GuestRegistration(Backend().client))
        await login.registerGuest().value
        let first = login.state
        await login.registerGuest().value
        #expect(login.state.errorText == first.errorText)
        #expect(login.state.failures == first.failures + 1)
    }

    @Test("a failure is told, typing takes it away, and the next tap tries again", arguments: Face.allCases)
    func failure(face: Face) async throws {
        let backend = Backend { request in request.number == 1 ? .status(503) : nil }
        let login = try face.login(GuestRegistration(backend.client))
        login.userName = "Ada"
        await login.registerGuest().value
        #expect(login.state.errorText == "The server is having trouble. Try again later.")
        #expect(!login.state.isAuthenticated)
        #expect(!login.state.isRegistering)
        login.userName = "Ada L"
        #expect(login.state.errorText == nil)
        await login.registerGuest().value
        #expect(login.state.isAuthenticated)
        #expect(backend.registrations.count == 2)
    }

    @Test("what was given up leaves no session behind, and is no failure", arguments: Face.allCases)
    func cancels(face: Face) async throws {
        let gate = Gate()
        let backend = Backend { request in
            if request.number == 1 { await gate.pass() }
            return nil
        }
        let login = try face.login(GuestRegistration(backend.client))
        login.userName = "Ada"
        let first = login.registerGuest()
        await gate.waitForArrivals()
        login.cancelRegistration()
        #expect(!login.state.isRegistering)
        await first.value
        #expect(login.state.errorText == nil)
        #expect(!login.state.isAuthenticated)

        // The answer to the first comes while the second is under way.
        login.userName = "Grace"
        let second = login.registerGuest()
        gate.open()
        await second.value
        #expect(login.state.isAuthenticated)
        #expect(backend.registrations.map(\.number) == [1, 2])
        #expect(try await backend.tokens.validToken().reveal() == "a2")
    }

    @Test("giving up and starting again in one turn makes another guest", arguments: Face.allCases)
    func cancelsAndStarts(face: Face) async throws {
        let gate = Gate()
        let backend = Backend { request in
            if request.number == 1 { await gate.pass() }
            return nil
        }
        let login = try face.login(GuestRegistration(backend.client))
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

    @Test("an answer that comes after all, once it was given up, changes nothing", arguments: Face.allCases)
    func late(face: Face) async throws {
        let gates = ["Ada": Gate(), "Grace": Gate()]
        let login = try face.login(
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

    @Test("a registration whose task is cancelled by hand can be tried again", arguments: Face.allCases)
    func cancelledTask(face: Face) async throws {
        let backend = Backend()
        let login = try face.login(GuestRegistration(backend.client))
        login.userName = "Ada"
        let registration = login.registerGuest()
        registration.cancel()
        await registration.value
        #expect(!login.state.isRegistering)
        #expect(login.state.errorText == nil)
        await login.registerGuest().value
        #expect(login.state.isAuthenticated)
    }

    @Test("a picture's way is told from nothing to all") func progress() async throws {
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
        let core = GuestLoginCore(guestRegistration, longestName: 100)
        var seen: [UploadProgress] = []
        core.changed = { if let progress = $0.progress { seen.append(progress) } }
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
        #expect(core.state.selectedImage == nil)
    }

    @Test("a picture that is none is said to be of no use, and nothing is sent", arguments: Face.allCases)
    func picture(face: Face) async throws {
        let backend = Backend()
        let login = try face.login(GuestRegistration(backend.client))
        login.userName = "Ada"
        login.selectedImage = .data(Data("no picture".utf8))
        await login.registerGuest().value
        #expect(login.state.errorText == "This picture cannot be used. Choose another one.")
        #expect(backend.transport.requests.isEmpty)
        login.selectedImage = nil
        #expect(login.state.errorText == nil)
        login.imageFailed()
        #expect(login.state.errorText == "This picture cannot be used. Choose another one.")
    }

    @Test("logging out ends the session and a registration under way", arguments: Face.allCases)
    func logout(face: Face) async throws {
        let gate = Gate()
        let backend = Backend { request in
            if request.number == 2 { await gate.pass() }
            return nil
        }
        let login = try face.login(GuestRegistration(backend.client))
        login.userName = "Ada"
        await login.registerGuest().value
        await login.logout().value
        #expect(!login.state.isAuthenticated)
        #expect(login.state.guest == nil)
        #expect(backend.tokens.state == .signedOut)

        login.userName = "Grace"
        let second = login.registerGuest()
        await gate.waitForArrivals()
        await login.logout().value
        gate.open()
        await second.value
        #expect(!login.state.isAuthenticated)
        #expect(backend.tokens.state == .signedOut)
    }

    @Test("the name of whoever signed out is not shown to the next person", arguments: Face.allCases)
    func nextPerson(face: Face) async throws {
        let login = try face.login(GuestRegistration(Backend().client))
        login.userName = "Ada"
        await login.registerGuest().value
        await login.logout().value
        #expect(login.userName == "")

        // What the next one types is theirs, and there is nobody to be forgotten any more.
        login.userName = "Grace"
        await login.logout().value
        #expect(login.userName == "Grace")
    }

    @Test("it knows of a session that was restored, and of one that the server ended", arguments: Face.allCases)
    func follows(face: Face) async throws {
        let time = ManualTimeSource()
        let backend = Backend(store: InMemoryTokenStore(.fresh(at: time.wallClock)), time: time) { _ in .status(401) }
        let login = try face.login(GuestRegistration(backend.client))
        #expect(!login.state.isAuthenticated)
        let run = Task { await login.run() }
        await waitUntil { login.state.isAuthenticated }
        _ = try? await backend.client.data(for: Call<Empty>.get("/me"))
        await waitUntil { !login.state.isAuthenticated }
        run.cancel()
        await run.value
    }

    @Test("a client without a session says so in the words of the app", arguments: Face.allCases)
    func withoutSession(face: Face) async throws {
        let client = NetworkClient(
            baseURL: "https://api.example.com", transport: StubTransport { _ in .json(#"{"id":1}"#) })
        let login = try face.login(GuestRegistration(client))
        login.userName = "Ada"
        await login.registerGuest().value
        #expect(login.state.errorText?.isEmpty == false)
        #expect(!login.state.isAuthenticated)
    }
}
