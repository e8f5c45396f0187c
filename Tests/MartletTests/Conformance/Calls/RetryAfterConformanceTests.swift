import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: Retry-After", .timeLimit(.minutes(10))) struct RetryAfterConformanceTests {
    private static let sentAt = Date(timeIntervalSince1970: 1_789_997_600)
    private static let date = "Mon, 21 Sep 2026 13:33:20 GMT"
    private static let sevenSecondsLater = "Mon, 21 Sep 2026 13:33:27 GMT"

    @Test("C69: a call waits until the date in Retry-After by the server's clock", arguments: [-3600.0, 0, 3600])
    func calls(skew: Double) async throws {
        let time = ManualTimeSource(wallClock: Self.sentAt.addingTimeInterval(skew))
        let transport = StubTransport {
            $0.number == 1
                ? .status(503, headers: [.retryAfter: Self.sevenSecondsLater, .date: Self.date]) : .status(204)
        }
        let (delays, delay) = AsyncStream.makeStream(of: Duration?.self)
        let client = client(transport) {
            $0.time = time
            $0.observers = [DelayRecorder(delays: delay)]
        }
        let call = Task { try await client.send(Get("/a", .none)) }
        defer { call.cancel() }
        var recorded = delays.makeAsyncIterator()
        try #require(await recorded.next() == .some(.some(.seconds(7))))
        await time.waitForSleepers(2)
        time.advance(by: .seconds(6))
        #expect(transport.requests.count == 1)
        time.advance(by: .seconds(1))
        try await call.value
        #expect(transport.requests.count == 2)
    }

    @Test("C69: without a valid Date, the date in Retry-After is judged by this device's clock")
    func withoutDate() async throws {
        for date in [nil, "yesterday", "\(Self.date), \(Self.date)"] {
            let time = ManualTimeSource(wallClock: Self.sentAt)
            let transport = StubTransport { _ in
                var headers: HTTPFields = [.retryAfter: Self.sevenSecondsLater]
                headers[.date] = date
                return .status(503, headers: headers)
            }
            let (delays, delay) = AsyncStream.makeStream(of: Duration?.self)
            let client = client(transport) {
                $0.time = time
                $0.observers = [DelayRecorder(delays: delay)]
            }
            let call = Task { try await client.send(Get("/a", .none)) }
            var recorded = delays.makeAsyncIterator()
            #expect(await recorded.next() == .some(.some(.seconds(7))), "\(date ?? "no Date")")
            call.cancel()
        }
    }

    @Test("C69: a refresh waits until the date in Retry-After by the server's clock", arguments: [-3600.0, 0, 3600])
    func refreshes(skew: Double) async throws {
        let app = App(time: ManualTimeSource(wallClock: Self.sentAt.addingTimeInterval(skew)))
        try await app.tokens.signIn(with: app.backend.issue())
        app.backend.beforeRefresh { _ in
            .status(503, headers: [.retryAfter: Self.sevenSecondsLater, .date: Self.date])
        }
        var events = app.tokens.events.makeAsyncIterator()
        _ = try? await app.tokens.refresh()
        while let event = await events.next() {
            guard case .refreshFailed(_, let failure, let backoff) = event else { continue }
            #expect(failure.retryAfter == .seconds(7))
            #expect(backoff == .seconds(7))
            break
        }
    }
}
