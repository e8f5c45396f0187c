import Foundation
import HTTPTypes
import Testing

@testable import Martlet

@Suite("URLSession", .timeLimit(.minutes(1)))
struct URLSessionTests {
    private let transport = URLSessionTransport()

    @Test("leaves a body in Zstandard encoded and says so, or decodes it and Martlet removes the field")
    func zstandard() async throws {
        let (head, body) = try await transport.send(try Backend.request("/_control/zstd?body=martlet"), body: nil)
        let bytes = try await whole(body)
        let isEncoded = bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
        #expect(isEncoded == (head.headerFields[.contentEncoding] == "zstd"))
        if !isEncoded { #expect(bytes == Data("martlet".utf8)) }
    }

    @Test("sends a body in pieces, with and without a length", arguments: [true, false])
    func streams(announcesLength: Bool) async throws {
        let body = Backend.streamed(pieces: 64, of: 20_000, announcesLength: announcesLength)
        let (head, response) = try await transport.send(try Backend.request("/_control/echo", .post), body: body)
        #expect(head.status == .ok)
        #expect(try JSONDecoder().decode(Echo.self, from: try await whole(response)).bodyLength == 64 * 20_000)
    }

    @Test("returns a 401 to a body that can be read only once, with its challenge", arguments: [true, false])
    func unauthorized(announcesLength: Bool) async throws {
        let body = Backend.streamed(pieces: 4, of: 1_000, announcesLength: announcesLength)
        let request = try Backend.request("/_control/basic-challenge", .post)
        let (head, response) = try await transport.send(request, body: body)
        #expect(head.status == .unauthorized)
        #expect(head.headerFields[.wwwAuthenticate] == "Basic realm=\"martlet\"")
        #expect(try await whole(response) == Data("Who are you?".utf8))
    }

    @Test("returns a redirect to a body that can be read only once, and stays there", arguments: [307, 308, 302])
    func redirect(status: Int) async throws {
        let body = Backend.streamed(pieces: 4, of: 1_000, announcesLength: true)
        let request = try Backend.request("/_control/redirect?status=\(status)&to=/_control/echo", .post)
        let (head, _) = try await transport.send(request, body: body)
        #expect(head.status.code == status)
        #expect(head.headerFields[.location] == "/_control/echo")
    }

    @Test("keeps a large response on the wire while it is not read, and loses and repeats no byte")
    func backpressure() async throws {
        let count = 32 << 20
        let (_, body) = try await transport.send(try Backend.request("/_control/bytes?count=\(count)"), body: nil)
        var received = 0
        for try await piece in body {
            let start = received
            #expect(piece.enumerated().allSatisfy { ($0.offset + start) % 251 == Int($0.element) })
            received += piece.count
        }
        #expect(received == count)
    }

    @Test("runs with a configuration that has no cookies, no cache and a delegate queue of its own")
    func configuration() {
        let configuration = URLSessionTransport.Connections(.ephemeral, trust: nil).session.configuration
        #expect(configuration.httpCookieStorage == nil && configuration.urlCache == nil)
        #expect(!configuration.waitsForConnectivity)
    }

    private func whole(_ body: ByteStream) async throws -> Data {
        var bytes = Data()
        for try await piece in body { bytes += piece }
        return bytes
    }
}
