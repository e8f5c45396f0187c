import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Streams over a transport that withholds the head of a response", .timeLimit(.minutes(10)))
struct WithheldHeadTests {
    /// Like Apple's URLSession, reports the head of a response whose type it wants to check only when 512 bytes of the
    /// body have arrived, or its end. The body goes on when the test says so.
    private final class Server: Transport {
        let time = ManualTimeSource()
        private let headers: HTTPFields
        private let body: AsyncStream<Data>
        private let pieces: AsyncStream<Data>.Continuation
        private let received = Locked(0)

        init(_ headers: HTTPFields) {
            self.headers = headers
            (body, pieces) = AsyncStream<Data>.makeStream()
        }

        /// The number of requests.
        var count: Int { received.withLock { $0 } }

        var client: NetworkClient {
            MartletTests.client(self) { config in
                config.time = time
                config.timeout = .seconds(30)
                config.retry = .never
            }
        }

        func write(_ text: String) { pieces.yield(Data(text.utf8)) }

        func send(
            _ request: HTTPRequest, body: OutgoingBody?
        ) async throws -> (head: HTTPResponse, body: ByteStream) {
            received.withLock { $0 += 1 }
            var start = Data()
            let checked = [nil, "text/plain", "text/html", "application/octet-stream"]
            if checked.contains(headers[.contentType]), headers[.xContentTypeOptions] != "nosniff" {
                var iterator = self.body.makeAsyncIterator()
                while start.count < 512, let piece = await iterator.next() { start += piece }
            }
            let stream = ByteStream.singlePass { [body = self.body, start] in
                var (rest, iterator) = (start, body.makeAsyncIterator())
                return {
                    defer { rest = Data() }
                    return rest.isEmpty ? await iterator.next() : rest
                }
            }
            return (HTTPResponse(status: .ok, headerFields: headers), stream)
        }
    }

    @Test(
        "a quiet stream of a checked type runs into the timeout, which names the reason",
        arguments: [[:], [.contentType: "text/plain"], [.contentType: "application/octet-stream"]] as [HTTPFields])
    func withheld(headers: HTTPFields) async throws {
        let server = Server(headers)
        server.write("tick")
        let call = Task { await error { _ = try await server.client.stream(Get("/log", .none)) } }
        await server.time.waitForSleepers(1)
        server.time.advance(by: .seconds(30))
        let failure = await call.value
        guard case .timedOut(_, .seconds(30)) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        let text = try #require(failure?.description)
        #expect(text.contains("X-Content-Type-Options: nosniff"))
        #expect(text.contains("text/event-stream"))
    }

    @Test(
        "a stream of another type, or with `nosniff`, is returned at once and may be quiet for hours",
        arguments: [
            [.contentType: "text/event-stream"], [.contentType: "application/json"],
            [.contentType: "text/plain", .xContentTypeOptions: "nosniff"],
        ] as [HTTPFields])
    func quiet(headers: HTTPFields) async throws {
        let server = Server(headers)
        let response = try await server.client.stream(Get("/log", .none))
        var iterator = response.value.makeAsyncIterator()
        for text in ["tick", "tock"] {
            server.time.advance(by: .seconds(10 * 3600))
            server.write(text)
            #expect(try await iterator.next() == Data(text.utf8))
        }
    }

    @Test("an event stream may be quiet for hours without a new connection") func events() async throws {
        let server = Server([.contentType: "text/event-stream"])
        var events = server.client.serverSentEvents(from: Get("/news", .none)).makeAsyncIterator()
        for text in ["one", "two"] {
            server.write("data: \(text)\n\n")
            #expect(try await events.next()?.data == text)
            server.time.advance(by: .seconds(10 * 3600))
        }
        #expect(server.count == 1)
    }

    @Test("the error of a typed call that times out gives no advice about streams") func typed() async throws {
        let server = Server([.contentType: "text/plain"])
        let call = Task { await error { _ = try await server.client.data(for: Get("/log", .none)) } }
        await server.time.waitForSleepers(1)
        server.time.advance(by: .seconds(30))
        #expect(await call.value?.description.contains("nosniff") == false)
    }
}
