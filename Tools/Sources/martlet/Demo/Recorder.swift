internal import Martlet
internal import NIOConcurrencyHelpers

/// Notes when what happened, as a network observer and as a reader of the session's events.
final class Recorder: NetworkObserver {
    private struct Notes {
        var calls: [Duration] = []
        var refusals: [Duration] = []
        var successes: [Duration] = []
        var events: [(at: Duration, event: SessionEvent)] = []
    }

    private let start = ContinuousClock.now
    private let notes = NIOLockedValueBox(Notes())

    /// How long the recorder has been running.
    var elapsed: Duration { start.duration(to: .now) }

    /// How many answers were a 401.
    var refusals: Int { notes.withLockedValue { $0.refusals.count } }

    func callWillStart(_ call: ObservedCall) {
        let now = elapsed
        notes.withLockedValue { $0.calls.append(now) }
    }

    func attemptDidReceive(_ attempt: ObservedAttempt, status: Int, bytes: Int) {
        guard status == 401 else { return }
        let now = elapsed
        notes.withLockedValue { $0.refusals.append(now) }
    }

    func callDidFinish(_ call: FinishedCall) {
        guard case .success = call.result else { return }
        let now = elapsed
        notes.withLockedValue { $0.successes.append(now) }
    }

    /// Notes what a session goes through, until its owner is gone.
    func follow(_ events: AsyncStream<SessionEvent>) {
        // With the priority of a person waiting, so that a burst of calls does not delay the time that is noted.
        Task(priority: .high) {
            for await event in events {
                let now = elapsed
                notes.withLockedValue { $0.events.append((now, event)) }
            }
        }
    }

    /// Waits until an event has come that was not there at the given time; gives up after five seconds.
    func sees(since: Duration, _ isWanted: (SessionEvent) -> Bool) async -> Bool {
        for _ in 0..<1000 {
            let isThere = notes.withLockedValue { notes in
                notes.events.contains { $0.at >= since && isWanted($0.event) }
            }
            if isThere { return true }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return false
    }

    /// What happened between two moments.
    func timeline(_ period: ClosedRange<Duration>) -> Timeline {
        let notes = notes.withLockedValue { $0 }
        let (sessions, refreshes) = SessionSpans.spans(in: notes.events, until: period.upperBound)
        return Timeline(
            period: period,
            lanes: [
                Timeline.Lane("signed in", .spans(sessions)),
                Timeline.Lane("calls", .moments(notes.calls)),
                Timeline.Lane("401s", .moments(notes.refusals)),
                Timeline.Lane("refreshes", .spans(refreshes)),
                Timeline.Lane("answered", .moments(notes.successes)),
            ])
    }
}

/// From single events to stretches of time.
enum SessionSpans {
    /// When somebody was signed in, and when a refresh was under way.
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
