import Foundation
import HTTPTypes
import Testing

@testable import Martlet

// The failure that these tests look for is a response that never arrives, so their time limit only ends them.
@Suite("URLSession delivers", .timeLimit(.minutes(1)))
struct QuietResponseTests {
    private let transport = URLSessionTransport()

    @Test(
        "the head of a response while no byte of its body follows",
        arguments: ["application/octet-stream", "application/json", "text/event-stream", "text/plain", "text/html"])
    func head(contentType: String) async throws {
        let request = try Backend.request("/_control/quiet?contentType=\(contentType)")
        let (head, _) = try await transport.send(request, body: nil)
        #expect(head.status == .ok)
        #expect(head.headerFields[.contentType] == contentType)
    }

    // It looks at the first 512 bytes of some types before it passes them on.
    @Test(
        "1, 511 and 512 bytes of a response while no other follows", arguments: [1, 511, 512],
        ["application/octet-stream", "text/event-stream", "text/plain"])
    func firstBytes(count: Int, contentType: String) async throws {
        let request = try Backend.request("/_control/quiet?count=\(count)&contentType=\(contentType)")
        let (_, body) = try await transport.send(request, body: nil)
        var received = 0
        for try await piece in body {
            received += piece.count
            if received >= count { break }
        }
        #expect(received == count)
    }
}
