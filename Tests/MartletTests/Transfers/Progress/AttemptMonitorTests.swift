import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Monitoring attempts", .timeLimit(.minutes(10))) struct AttemptMonitorTests {
    @Test("a body read after its attempt was abandoned does not count") func lateBody() async throws {
        let kept = Locked<[OutgoingBody]>([])
        let transport = BodyKeepingTransport(kept: kept)
        let monitor = TransferMonitor(interval: .zero)
        let upload = Call<NoContent>.put("/here", .bytes(Data(count: 10)))
        try await client(transport) { $0.retry = RetryPolicy(firstDelay: .zero) }.send(upload, monitor: monitor)
        func read(_ body: OutgoingBody) async throws {
            guard case .stream(let stream) = body.content else { return }
            for try await _ in stream {}
        }
        #expect(monitor.attempt == 2 && monitor.sent == TransferCount())
        // The body of the first attempt, then that of the second, after the call has ended.
        for body in kept.withLock({ $0 }) { try await read(body) }
        #expect(monitor.attempt == 2 && monitor.sent == TransferCount())
        for await event in monitor.events { #expect(event == .attempt(2)) }
    }

    @Test("a body announced after its attempt was abandoned does not count") func lateAnnouncement() {
        let monitor = TransferMonitor()
        monitor.start(attempt: 1)
        let first = monitor.bodyNumber
        monitor.start(attempt: 2)
        let second = monitor.numberBody(after: monitor.bodyNumber)
        func readLate() {
            let pass = monitor.startBody(monitor.numberBody(after: first), attempt: 1)
            monitor.send(TransferCount(completed: 3, total: 10), in: pass)
        }
        readLate()
        let pass = monitor.startBody(second, attempt: 2)
        let whole = TransferCount(completed: 10, total: 10)
        monitor.send(whole, in: pass)
        #expect(monitor.attempt == 2 && monitor.sent == whole)
        monitor.finish()
        readLate()
        #expect(monitor.attempt == 2 && monitor.sent == whole)
    }

    /// A transport that keeps bodies unread and fails the first attempt.
    private struct BodyKeepingTransport: Transport {
        let kept: Locked<[OutgoingBody]>

        func send(
            _ request: HTTPRequest, body: OutgoingBody?
        ) async throws -> (head: HTTPResponse, body: ByteStream) {
            let number = kept.withLock { kept in
                if let body { kept.append(body) }
                return kept.count
            }
            if number == 1 { throw TransportError.connectionLost("given up") }
            return (head: HTTPResponse(status: .noContent), body: ByteStream(Data()))
        }
    }

    @Test("a body sent again after a redirect is announced again") func redirected() async throws {
        let transport = StubTransport { request in
            request.path == "/here" ? .status(307, headers: [.location: "/there"]) : .status(204)
        }
        let monitor = TransferMonitor(interval: .zero)
        let events = monitor.events
        try await client(transport).send(Call<NoContent>.post("/here", .bytes(Data(count: 10))), monitor: monitor)
        var heard: [TransferEvent] = []
        for await event in events { heard.append(event) }
        #expect(heard == [.attempt(1), .attempt(1), .sent(TransferCount(completed: 10, total: 10))])
    }

    @Test("an attempt abandoned during a redirect sends and reports nothing more") func givenUpAtRedirect()
        async throws
    {
        let time = ManualTimeSource()
        let straggler = Gate()
        let transport = StubTransport { request in
            guard request.number == 1 else {
                // The redirect of the first attempt ends now, during the second attempt.
                straggler.open()
                for _ in 0..<200 { await Task.yield() }
                return .status(204)
            }
            return StubTransport.Response(
                307, headers: [.location: "/there"],
                stream: ByteStream {
                    {
                        await time.waitForSleepers(1)
                        time.advance(by: .seconds(31))
                        await straggler.pass()
                        return nil
                    }
                })
        }
        let redirects = Redirects()
        let monitor = TransferMonitor(interval: .zero)
        let client = client(transport) { config in
            config.time = time
            config.retry = RetryPolicy(firstDelay: .zero)
            config.observers = [redirects]
        }
        try await client.send(Call<NoContent>.put("/here", .bytes(Data(count: 10))), monitor: monitor)
        #expect(transport.requests.map(\.path) == ["/here", "/here"])
        #expect(monitor.attempt == 2)
        #expect(monitor.sent == TransferCount(completed: 10, total: 10))
        #expect(redirects.urls.withLock { $0 } == [])
    }

    private final class Redirects: NetworkObserver {
        let urls = Locked<[String]>([])

        func observe(_ event: CallEvent) {
            if case .redirected(_, let url) = event { urls.withLock { $0.append(url) } }
        }
    }
}
