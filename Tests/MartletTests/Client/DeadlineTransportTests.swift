import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Transports that keep time limits by themselves", .timeLimit(.minutes(10))) struct DeadlineTransportTests {
    @Test("a transport gets the time limit of a typed call, and its deadline is a timeout")
    func deadline() async throws {
        let transport = DeadlineStub { limit in
            #expect(limit > .zero && limit <= .seconds(3600))
            throw DeadlineError()
        }
        let failure = await error { try await calling(transport) { $0.timeout = .seconds(3600) } }
        guard case .timedOut(_, .seconds(3600)) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(transport.sent.lines == ["exchange"])
    }

    @Test("a body over the size limit is an error, unless its response is a redirect") func size() async throws {
        let transport = DeadlineStub { _ in
            TransportResponse(head: HTTPResponse(status: .ok), body: .tooLarge)
        }
        let failure = await error { try await calling(transport) { $0.maximumResponseBytes = 20 } }
        guard case .responseTooLarge(_, 20) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        let isFirst = Locked(true)
        let redirecting = DeadlineStub { _ in
            let first = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            guard first else { return .numbers }
            var head = HTTPResponse(status: .temporaryRedirect)
            head.headerFields[.location] = "/b"
            return TransportResponse(head: head, body: .tooLarge)
        }
        try await calling(redirecting)
        #expect(redirecting.sent.lines == ["exchange", "exchange"])
    }

    @Test("the time limit counts for all redirects together") func redirects() async throws {
        let limits = Locked<[Duration]>([])
        let transport = DeadlineStub { limit in
            let isFirst = limits.withLock { limits in
                limits.append(limit)
                return limits.count == 1
            }
            guard isFirst else { throw DeadlineError() }
            var head = HTTPResponse(status: .temporaryRedirect)
            head.headerFields[.location] = "/b"
            return TransportResponse(head: head, body: .bytes(Data()))
        }
        let failure = await error { try await calling(transport) { $0.timeout = .seconds(3600) } }
        guard case .timedOut(_, .seconds(3600)) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        let seen = limits.withLock { $0 }
        #expect(seen.count == 2 && seen[1] < seen[0])
    }

    @Test("with another clock, or if progress restarts the limit, the client keeps the limit itself")
    func otherLimits() async throws {
        let transport = DeadlineStub { _ in .numbers }
        let _: [Int] = try await client(transport) { $0.time = ManualTimeSource() }.send(Get("/a", .none))
        let client = client(transport) { $0.time = nil }
        let _: [Int] = try await client.send(Get("/a", .none), monitor: TransferMonitor())
        for try await _ in try await client.stream(Get("/a", .none)).value {}
        #expect(transport.sent.lines == ["plain", "plain", "plain"])
        let _: [Int] = try await client.send(Get("/a", .none))
        #expect(transport.sent.lines.last == "exchange")
    }

    private func calling(_ transport: DeadlineStub, _ change: (inout NetworkConfig) -> Void = { _ in }) async throws {
        // Only the system's clock is that of the transport.
        let client = client(transport) {
            $0.time = nil
            $0.retry = .never
            change(&$0)
        }
        let _: [Int] = try await client.send(Get("/a", .none))
    }
}

/// A transport that says how it was called. A closure makes each response.
private struct DeadlineStub: DeadlineTransport {
    let sent = Log()
    let response: @Sendable (Duration) throws -> TransportResponse

    func send(_ request: HTTPRequest, body: OutgoingBody?) async throws -> (head: HTTPResponse, body: ByteStream) {
        sent.add("plain")
        let response = try response(.zero)
        return (response.head, ByteStream(try await response.collect(upTo: .max)))
    }

    func exchange(
        _ request: HTTPRequest, body: Data?, upTo maximumCount: Int, within limit: Duration
    ) async throws -> TransportResponse {
        sent.add("exchange")
        return try response(limit)
    }
}

extension TransportResponse {
    fileprivate static var numbers: TransportResponse {
        TransportResponse(head: HTTPResponse(status: .ok), body: .bytes(Data("[1]".utf8)))
    }
}
