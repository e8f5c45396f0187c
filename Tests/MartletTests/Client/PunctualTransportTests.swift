import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Transports that keep time limits by themselves") struct PunctualTransportTests {
    @Test("one gets the time limit of a typed call, and its deadline is a timeout") func deadline() async throws {
        let transport = Punctual { limit in
            #expect(limit > .zero && limit <= .seconds(5))
            throw DeadlineError()
        }
        let failure = await error { try await calling(transport) { $0.timeout = .seconds(5) } }
        guard case .timedOut(_, .seconds(5)) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(transport.sent.lines == ["punctual"])
    }

    @Test("a body that never ends is a timeout with the same text as a head that never comes") func endlessBody()
        async throws
    {
        // The limit cannot decide the result: there is no other end than the limit.
        let texts = try await [
            text(of: Punctual { _ in throw DeadlineError() }), text(of: Punctual { _ in .endless }),
        ]
        #expect(texts[0] == texts[1])
        #expect(texts[0].contains("no complete response within 0.01 s"), "\(texts[0])")
    }

    @Test("a cancelled call returns while the body of its response ignores the cancellation") func cancellation()
        async throws
    {
        let gate = Gate()
        let transport = Punctual { _ in
            ByteStream {
                {
                    await gate.pass()
                    return nil
                }
            }
        }
        let call = Task { await error { try await calling(transport) } }
        await gate.waitForArrivals()
        call.cancel()
        #expect(await call.value?.isCancelled == true)
        gate.open()
    }

    @Test("a body in pieces arrives in one piece, and a body over the size limit does not") func pieces() async throws {
        let pieces = (0..<50).map { "\($0 == 0 ? "[" : ",")\($0)" } + ["]"]
        let transport = Punctual { _ in
            ByteStream {
                var rest = pieces[...]
                return {
                    await Task.yield()
                    return rest.popFirst().map { Data($0.utf8) }
                }
            }
        }
        let numbers: [Int] = try await client(transport).send(Get("/a", .none))
        #expect(numbers == Array(0..<50))
        let failure = await error { try await calling(transport) { $0.maximumResponseBytes = 20 } }
        guard case .responseTooLarge(_, 20) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("with another clock, or where progress restarts the limit, the client keeps the limit") func otherLimits()
        async throws
    {
        let transport = Punctual { _ in ByteStream(Data("[1]".utf8)) }
        let _: [Int] = try await client(transport) { $0.time = ManualTimeSource() }.send(Get("/a", .none))
        let client = client(transport)
        let _: [Int] = try await client.send(Get("/a", .none), monitor: TransferMonitor())
        for try await _ in try await client.stream(Get("/a", .none)).value {}
        #expect(transport.sent.lines == ["plain", "plain", "plain"])
        let _: [Int] = try await client.send(Get("/a", .none))
        #expect(transport.sent.lines.last == "punctual")
    }

    private func calling(_ transport: Punctual, _ change: (inout NetworkConfig) -> Void = { _ in }) async throws {
        let client = client(transport) {
            $0.retry = .never
            change(&$0)
        }
        let _: [Int] = try await client.send(Get("/a", .none))
    }

    private func text(of transport: Punctual) async throws -> String {
        let failure = await error { try await calling(transport) { $0.timeout = .milliseconds(10) } }
        return try #require(failure).description
    }
}

/// A transport that says how it was called. A closure makes the body of each response.
private struct Punctual: PunctualTransport {
    let sent = Log()
    let body: @Sendable (Duration) async throws -> ByteStream

    func send(_ request: HTTPRequest, body: OutgoingBody?) async throws -> (head: HTTPResponse, body: ByteStream) {
        sent.add("plain")
        return (HTTPResponse(status: .ok), try await self.body(.zero))
    }

    func send(
        _ request: HTTPRequest, body: OutgoingBody?, within limit: Duration
    ) async throws -> (head: HTTPResponse, body: ByteStream) {
        sent.add("punctual")
        return (HTTPResponse(status: .ok), try await self.body(limit))
    }
}

extension ByteStream {
    /// A body whose end never comes.
    fileprivate static var endless: ByteStream {
        ByteStream {
            {
                try await Task.sleep(for: .seconds(3_000_000))
                return nil
            }
        }
    }
}
