internal import Martlet
internal import NIOConcurrencyHelpers

/// Records when calls, 401s and session events happened, as a network observer and a reader of the session's events.
final class Recorder: NetworkObserver {
    /// The times of the recorded events, since the recorder was created.
    private struct Records {
        var calls: [Duration] = []
        var refusals: [Duration] = []
        var successes: [Duration] = []
        var events: [(at: Duration, event: SessionEvent)] = []
    }

    private let start = ContinuousClock.now
    private let records = NIOLockedValueBox(Records())

    /// The time since the recorder was created.
    var elapsed: Duration { start.duration(to: .now) }

    /// The number of responses with the status 401.
    var refusals: Int { records.withLockedValue { $0.refusals.count } }

    func observe(_ event: CallEvent) {
        let now = elapsed
        records.withLockedValue { records in
            switch event {
            case .started: records.calls.append(now)
            case .received(_, let response): if response.status == 401 { records.refusals.append(now) }
            case .finished(_, .success): records.successes.append(now)
            default: break
            }
        }
    }

    /// Records a session's events until its token manager is released.
    func follow(_ events: AsyncStream<SessionEvent>) {
        // High priority, so that a burst of calls does not delay the recorded times.
        Task(priority: .high) {
            for await event in events {
                let now = elapsed
                records.withLockedValue { $0.events.append((now, event)) }
            }
        }
    }

    /// Waits for an event that was recorded at or after `since`. Returns `false` after five seconds without one.
    func waitForEvent(since: Duration, _ isWanted: (SessionEvent) -> Bool) async -> Bool {
        for _ in 0..<1000 {
            let isThere = records.withLockedValue { records in
                records.events.contains { $0.at >= since && isWanted($0.event) }
            }
            if isThere { return true }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return false
    }

    /// The recorded events within a period, one lane for each kind.
    func timeline(_ period: ClosedRange<Duration>) -> Timeline {
        let records = records.withLockedValue { $0 }
        let (sessions, refreshes) = SessionSpans.spans(in: records.events, until: period.upperBound)
        return Timeline(
            period: period,
            lanes: [
                Timeline.Lane("signed in", .spans(sessions)),
                Timeline.Lane("calls", .moments(records.calls)),
                Timeline.Lane("401s", .moments(records.refusals)),
                Timeline.Lane("refreshes", .spans(refreshes)),
                Timeline.Lane("completed", .moments(records.successes)),
            ])
    }
}

/// Derives periods of time from single session events.
enum SessionSpans {
    /// The periods in which a user was signed in, and those in which a refresh was in progress.
    static func spans(
        in events: [(at: Duration, event: SessionEvent)], until end: Duration
    ) -> (sessions: [ClosedRange<Duration>], refreshes: [ClosedRange<Duration>]) {
        var sessions = OpenSpans()
        var refreshes = OpenSpans()
        for (at, event) in events {
            switch event {
            case .signedIn, .restored(.some):
                sessions.close(at)
                sessions.open(at)
            case .signedOut:
                sessions.close(at)
            case .expired:
                sessions.close(at)
                refreshes.close(at)
            case .refreshStarted:
                refreshes.open(at)
            case .refreshSucceeded, .refreshFailed, .refreshDiscarded:
                refreshes.close(at)
            default:
                break
            }
        }
        sessions.close(end)
        refreshes.close(end)
        return (sessions.closed, refreshes.closed)
    }

    /// Periods of one kind. At most one is open at a time.
    private struct OpenSpans {
        private(set) var closed: [ClosedRange<Duration>] = []
        private var beginning: Duration?

        mutating func open(_ at: Duration) {
            beginning = at
        }

        mutating func close(_ at: Duration) {
            if let beginning { closed.append(beginning...max(beginning, at)) }
            beginning = nil
        }
    }
}
