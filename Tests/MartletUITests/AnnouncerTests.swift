import Martlet
import MartletTesting
import Testing

@testable import MartletUI

/// A VoiceOver that reports an outcome for each announcement.
@MainActor private final class FakeVoiceOver {
    private var outcomes: [Announcer.Outcome]
    private let time: ManualTimeSource
    private(set) var heard: [(text: String, at: Duration)] = []

    init(_ outcomes: [Announcer.Outcome], _ time: ManualTimeSource) {
        self.outcomes = outcomes
        self.time = time
    }

    func say(_ text: String) -> Announcer.Outcome {
        heard.append((text, time.uptime))
        return outcomes.isEmpty ? .spoken : outcomes.removeFirst()
    }
}

@MainActor @Suite("Announcements", .timeLimit(.minutes(10))) struct AnnouncerTests {
    private let time = ManualTimeSource()

    /// Announces a text with a VoiceOver that has these outcomes.
    /// - Returns: The times of the announcements since the screen appeared.
    private func announce(_ outcomes: Announcer.Outcome...) async -> [Duration] {
        let voiceOver = FakeVoiceOver(outcomes, time)
        let start = time.uptime
        let announcer = Announcer(time: time) { voiceOver.say($0) }
        let work = Task { await announcer.announce("Sign in again.") }
        for _ in outcomes {
            await time.waitForSleepers()
            _ = time.advanceToNextSleeper()
        }
        await work.value
        #expect(voiceOver.heard.allSatisfy { $0.text == "Sign in again." })
        return voiceOver.heard.map { $0.at - start }
    }

    @Test("a text waits for the screen that has just appeared, which VoiceOver reads first") func pause() async {
        #expect(await announce(.spoken) == [.milliseconds(500)])
        #expect(await announce(.unknown) == [.milliseconds(500)])
    }

    @Test("an announcement that VoiceOver drops is repeated, at most twice") func dropped() async {
        #expect(await announce(.dropped, .spoken) == [.milliseconds(500), .milliseconds(1500)])
        #expect(
            await announce(.dropped, .dropped, .dropped)
                == [.milliseconds(500), .milliseconds(1500), .milliseconds(3500)])
    }

    @Test("an announcement that VoiceOver does not report is repeated once: it may have been read")
    func unreported() async {
        #expect(await announce(.unreported, .unreported) == [.milliseconds(500), .milliseconds(1500)])
    }

    @Test("nothing is announced once the screen has gone") func gone() async {
        let voiceOver = FakeVoiceOver([], time)
        let announcer = Announcer(time: time) { voiceOver.say($0) }
        let work = Task { await announcer.announce("Sign in again.") }
        await time.waitForSleepers()
        work.cancel()
        await work.value
        #expect(voiceOver.heard.isEmpty)
    }
}
