internal import Martlet

/// Makes VoiceOver read out a text that has just appeared away from its focus.
///
/// VoiceOver drops an announcement while it reads a screen that has just appeared, or an element that has just got its
/// focus. So the text is announced after a moment, and again if it was dropped.
@MainActor struct Announcer {
    /// The outcome of an announcement.
    enum Outcome: Sendable {
        case spoken
        /// VoiceOver reports that it was interrupted or dropped.
        case dropped
        /// VoiceOver reports nothing in the time in which it would have read the text. That also happens if it has
        /// dropped the announcement for a new screen.
        case unreported
        /// The system has no such reports.
        case unknown
    }

    /// The pauses before each attempt.
    static let pauses: [Duration] = [.milliseconds(500), .seconds(1), .seconds(2)]

    private let time: any TimeSource
    private let post: @MainActor (String) async -> Outcome

    /// - Parameter post: Announces a text once, and waits for the outcome.
    init(time: any TimeSource, post: @escaping @MainActor (String) async -> Outcome) {
        self.time = time
        self.post = post
    }

    /// Announces a text until it is spoken, at most three times. Ends when the task is cancelled, as that of a view is
    /// when it disappears.
    func announce(_ text: String) async {
        var unreported = 0
        for pause in Self.pauses {
            guard (try? await time.sleep(until: time.uptime + pause)) != nil, !Task.isCancelled else { return }
            switch await post(text) {
            case .spoken, .unknown: return
            case .dropped: continue
            case .unreported:
                // It may have been read. Once more is a nuisance, twice more is worse than nothing.
                unreported += 1
                if unreported > 1 { return }
            }
        }
    }
}
