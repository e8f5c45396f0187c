import Martlet
import Testing

@testable import MartletCommand

@Suite("Session spans", .timeLimit(.minutes(10))) struct SessionSpansTests {
    private let stamp = SessionStamp(session: SessionID(rawValue: "session"), rotation: 0)

    @Test("A refresh span ends with its result, a session span with its end or the next session") func spans() {
        let events: [SessionEvent] = [
            .signedIn(stamp), .refreshStarted(stamp, .rejected), .refreshJoined(stamp), .refreshSucceeded(stamp),
            .restored(stamp), .refreshStarted(stamp, .rejected), .expired(stamp.session, .noRefreshToken),
            .signedIn(stamp),
        ]
        let timed = events.enumerated().map { (at: Duration.milliseconds($0.offset * 10), event: $0.element) }
        let spans = SessionSpans.spans(in: timed, until: .milliseconds(100))
        #expect(spans.sessions == [0...40, 40...60, 70...100].map(durations))
        #expect(spans.refreshes == [10...30, 50...60].map(durations))
    }

    @Test("An app that starts signed out has no session") func signedOut() {
        let spans = SessionSpans.spans(in: [(at: .zero, event: .restored(nil))], until: .seconds(1))
        #expect(spans.sessions.isEmpty && spans.refreshes.isEmpty)
    }

    private func durations(_ range: ClosedRange<Int>) -> ClosedRange<Duration> {
        .milliseconds(range.lowerBound)...(.milliseconds(range.upperBound))
    }
}
