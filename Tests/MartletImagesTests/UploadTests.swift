import Foundation
import Martlet
import MartletTesting
import Testing

@testable import MartletImages

@Suite("Uploading pictures", .timeLimit(.minutes(10)))
struct UploadTests {
    @Test("one call builds a multipart body with its fields in order")
    func body() async throws {
        let transport = StubTransport { _ in .status(204) }
        var config = NetworkConfig()
        config.time = ManualTimeSource()
        let client = NetworkClient(baseURL: "https://api.example.com", config: config, transport: transport)
        let body = try await RequestBody.multipart(
            image: .file(at: Pictures.path("clean.jpg")), named: "avatar", fields: ["album": "1", "title": "Me"])
        let _: NoContent = try await client.send(Call<NoContent>.post("/pictures", body))
        let request = try #require(transport.requests.first)
        let picture = try Pictures.data("clean.jpg")
        #expect(request.body.range(of: picture) != nil)
        let text = String(decoding: request.body, as: UTF8.self)
        let album = try #require(text.range(of: "name=\"album\"\r\n\r\n1\r\n"))
        let title = try #require(text.range(of: "name=\"title\"\r\n\r\nMe\r\n"))
        let file = try #require(
            text.range(of: "name=\"avatar\"; filename=\"clean.jpg\"\r\nContent-Type: image/jpeg\r\n"))
        #expect(album.lowerBound < title.lowerBound && title.lowerBound < file.lowerBound)
    }
}
