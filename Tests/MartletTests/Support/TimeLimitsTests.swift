import MartletStorage
import MartletTesting
import Testing

@testable import Martlet

@Suite("Time limits", .timeLimit(.minutes(10))) struct TimeLimitsTests {
    @TaskLocal private static var caller = "none"

    @Test("the shared task that waits for them sees no task-local value of the first caller") func taskLocals() async {
        let time = ManualTimeSource()
        let limits = TimeLimits(time: time)
        let seen = Locked("")
        let stop = Self.$caller.withValue("first") {
            limits.schedule(after: .seconds(1)) { seen.withLock { $0 = Self.caller } }
        }
        await time.waitForSleepers(1)
        time.advance(by: .seconds(1))
        while seen.withLock({ $0.isEmpty }) { await Task.yield() }
        #expect(seen.withLock { $0 } == "none")
        stop()
    }
}
