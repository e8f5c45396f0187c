import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Intervals of calls and refreshes", .timeLimit(.minutes(10))) struct CallIntervalsTests {
    /// Records the beginning and the end of each interval.
    private final class Signposts: Sendable {
        private let recorded = Locked<[String]>([])
        var lines: [String] { recorded.withLock { $0 } }

        var intervals: CallIntervals {
            CallIntervals { kind, text, target in
                let name = [kind == .refresh ? "refresh" : "\(kind)", text, target].joined(separator: " ")
                self.add("begin \(name)")
                return { self.add("end \(name): \($0)") }
            }
        }

        private func add(_ line: String) { recorded.withLock { $0.append(line) } }
    }

    @Test("a call has an interval, and each of its attempts has one inside it") func calls() async throws {
        let signposts = Signposts()
        let app = try await App.signedIn { $0.observers = [signposts.intervals] }
        app.backend.invalidateAccessTokens()
        #expect(await app.call("/me").isSuccess)
        #expect(
            signposts.lines == [
                "begin call GET /me", "begin attempt GET 1 /me", "end attempt GET 1 /me: 401",
                "begin attempt GET 2 /me",
                "end attempt GET 2 /me: 200", "end call GET /me: 200",
            ])
    }

    @Test("failed and cancelled calls end their intervals, and show no secret") func failures() async throws {
        let signposts = Signposts()
        let transport = StubTransport()
        transport.when(.get, "/feed").fail(with: .offline)
        var config = NetworkConfig()
        config.retry = .never
        config.observers = [signposts.intervals]
        let client = NetworkClient(baseURL: "https://api.example.com", config: config, transport: transport)
        let call = Call<NoContent>.get("/feed", query: ["token": "hunter2"])
        await #expect(throws: NetworkError.self) { try await client.send(call) }
        let target = "GET /feed?token=<redacted>"
        #expect(
            signposts.lines == [
                "begin call \(target)", "begin attempt GET 1 /feed?token=<redacted>",
                "end attempt GET 1 /feed?token=<redacted>: failed", "end call \(target): failed",
            ])
    }

    @Test(
        "a refresh has an interval with its outcome",
        arguments: [
            (.refreshSucceeded(stamp), "new tokens"), (.adopted(stamp), "tokens of another process"),
            (.refreshDiscarded(stamp), "discarded"),
            (.expired(stamp.session, .refreshTokenRejected(code: nil)), "the session ended"),
            (.signedOut(stamp.session), "the session changed"),
            (.refreshStarted(stamp, .expired), "replaced"),
        ] as [(SessionEvent, String)])
    func refreshes(event: SessionEvent, outcome: String) {
        let signposts = Signposts()
        let intervals = signposts.intervals
        intervals.record(.refreshSucceeded(Self.stamp))
        intervals.record(.refreshStarted(Self.stamp, .rejected))
        intervals.record(.refreshJoined(Self.stamp))
        intervals.record(event)
        #expect(Array(signposts.lines.prefix(2)) == ["begin refresh rejected ", "end refresh rejected : \(outcome)"])
    }

    private static let stamp = SessionStamp(session: SessionID(rawValue: "A"), rotation: 1)
}
