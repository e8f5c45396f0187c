import Foundation
import Martlet
import MartletTesting
import Testing

@testable import MartletGuests

@Suite("The field names of a guest", .timeLimit(.minutes(10))) struct GuestFieldsTests {
    private func guest(in json: String) throws -> Guest? {
        GuestFields.standard.guest(in: try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8)))
    }

    @Test(
        "the standard names find a guest at the top, in a user, and in an object around it",
        arguments: [
            #"{"id":7,"name":"Ada","profileUrl":"/ada.jpg","profileImageKey":"k"}"#,
            #"{"user":{"id":"7","name":"Ada","profileUrl":"/ada.jpg","profileImageKey":"k"}}"#,
            #"{"guest":{"id":"7","name":"Ada","profile_url":"/ada.jpg","profile_image_key":"k"}}"#,
            #"{"result":{"user":{"id":7,"name":"Ada","profileUrl":"/ada.jpg","profileImageKey":"k"}}}"#,
            #"{"data":{"id":7,"name":"Ada","profileUrl":"/ada.jpg","profileImageKey":"k"}}"#,
            #"{"result":"success","data":{"id":7,"name":"Ada","profileUrl":"/ada.jpg","profileImageKey":"k"}}"#,
            #"{"data":null,"user":{"id":7,"name":"Ada","profileUrl":"/ada.jpg","profileImageKey":"k"}}"#,
            #"{"id":7,"name":"Ada","profileUrl":null,"profileURL":"/ada.jpg","profileImageKey":"k","user":true}"#,
        ]) func standardNames(json: String) throws
    {
        #expect(try guest(in: json) == Guest(id: "7", name: "Ada", profileURL: "/ada.jpg", profileImageKey: "k"))
    }

    @Test("a numeric id keeps all its digits") func longID() throws {
        #expect(try guest(in: #"{"id":9007199254740993}"#)?.id == "9007199254740993")
        #expect(try guest(in: #"{"id":18446744073709551615}"#)?.id == "18446744073709551615")
    }

    @Test(
        "a response without an id is not a guest",
        arguments: ["{}", #"{"user":{}}"#, #"{"id":null}"#, #"{"id":""}"#, "[]", #""7""#])
    func noID(json: String) throws {
        #expect(try guest(in: json) == nil)
    }

    @Test("a server's own names are used for the form and for the response") func ownNames() async throws {
        let stub = StubTransport()
        let form = Locked(Data())
        stub.when(.post, "/guests").respond { request in
            form.withLock { $0 = request.body }
            return .json(
                #"{"member":{"guest_id":12,"nickname":"Ada","avatar":"/a.png"},"accessToken":"a","refreshToken":"r"}"#)
        }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: stub, time: ManualTimeSource())
        let fields = GuestFields(
            formName: "nickname", formPicture: "profileImage", containers: ["member"], id: ["guest_id"],
            name: ["nickname"], profileURL: ["avatar"])
        let guests = GuestAuthService(NetworkClient(tokens: tokens), path: "/guests", fields: fields)
        let guest = try await guests.register(
            name: "Ada", picture: .data(Data("picture".utf8), filename: "ada.png", contentType: "image/png"))
        #expect(guest == Guest(id: "12", name: "Ada", profileURL: "/a.png"))
        let sent = String(decoding: form.withLock { $0 }, as: UTF8.self)
        #expect(sent.contains(#"name="nickname""#))
        #expect(sent.contains(#"name="profileImage"; filename="ada.png""#))
        #expect(!sent.contains(#"name="name""#))
    }

    @Test("a response without a guest starts no session, and the error names the missing field") func noGuest() async {
        let stub = StubTransport()
        stub.when(.post, "/auth/guest/register").respond(.json(#"{"accessToken":"a","refreshToken":"r"}"#))
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: stub, time: ManualTimeSource())
        let service = GuestAuthService(NetworkClient(tokens: tokens), fields: GuestFields(id: ["guest_id", "gid"]))
        let failure = await #expect(throws: NetworkError.self) { try await service.register(name: "Ada") }
        guard case .decoding(_, let problem) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(problem.reason.contains("guest_id or gid"))
        #expect(await tokens.loadedState == .signedOut)
    }
}
