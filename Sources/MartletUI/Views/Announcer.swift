internal import Martlet

/// Makes VoiceOver read out a message that has just appeared away from its focus.
///
/// VoiceOver drops an announcement while it reads a screen that has just appeared, or an element that has just got its
/// focus. So the message is announced after a moment, and again if it was dropped.
@MainActor struct Announcer {
    /// The outcome of an announcement.
    enum Outcome: Sendable {
        case spoken
        /// VoiceOver reports that it was interrupted or dropped.
        case dropped
        /// VoiceOver reports nothing in the time that reading the message takes. That also happens if it drops the
        /// announcement for a new screen.
        case unreported
        /// The system does not report outcomes.
        case unknown
    }

    /// The pauses before each attempt.
    static let pauses: [Duration] = [.milliseconds(500), .seconds(1), .seconds(2)]

    private let time: any TimeSource
    private let post: @MainActor (String) async -> Outcome

    /// - Parameter post: Announces a message once, and waits for the outcome.
    init(time: any TimeSource, post: @escaping @MainActor (String) async -> Outcome) {
        self.time = time
        self.post = post
    }

    /// Announces a message until it is spoken, at most three times. Ends when the task is cancelled, for example
    /// because its view disappears.
    func announce(_ text: String) async {
        var unreported = 0
        for pause in Self.pauses {
            guard (try? await time.sleep(until: time.uptime + pause)) != nil, !Task.isCancelled else { return }
            switch await post(text) {
            case .spoken, .unknown: return
            case .dropped: continue
            case .unreported:
                // VoiceOver may have read the message. Repeating it once is a nuisance; repeating it twice is worse
                // than silence.
                unreported += 1
                if unreported > 1 { return }
            }
        }
    }
}
