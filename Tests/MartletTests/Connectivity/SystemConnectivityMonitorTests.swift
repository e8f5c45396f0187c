import MartletTesting
import Testing

@testable import Martlet

@Suite("The system's connectivity", .timeLimit(.minutes(10))) struct SystemConnectivityMonitorTests {
    /// A system whose reports a test makes.
    private final class FakeSystem: Sendable {
        let reports = Locked<[@Sendable (Bool) -> Void]>([])

        var monitor: SystemConnectivityMonitor {
            SystemConnectivityMonitor { report in
                self.reports.withLock { $0.append(report) }
                return self
            }
        }

        func report(_ isConnected: Bool) {
            for report in reports.withLock({ $0 }) { report(isConnected) }
        }
    }

    @Test("the real system answers, and the answer is the same for a second subscriber") func realSystem() async throws
    {
        var first = SystemConnectivityMonitor.shared.updates.makeAsyncIterator()
        var second = SystemConnectivityMonitor.shared.updates.makeAsyncIterator()
        let answer: Bool? = await first.next()
        #expect(answer != nil)
        #expect(await second.next() == answer)
    }

    @Test("the system is watched once, from the first subscription on") func oneWatch() async {
        let system = FakeSystem()
        let monitor = system.monitor
        #expect(system.reports.withLock { $0.count } == 0)
        var first = monitor.updates.makeAsyncIterator()
        system.report(true)
        #expect(await first.next() == true)
        var second = monitor.updates.makeAsyncIterator()
        #expect(await second.next() == true)
        #expect(system.reports.withLock { $0.count } == 1)
    }

    @Test("only changes are reported") func changes() async {
        let system = FakeSystem()
        let monitor = system.monitor
        var updates = monitor.updates.makeAsyncIterator()
        for isConnected in [true, true, false, false, true] { system.report(isConnected) }
        #expect(await updates.next() == true)
        #expect(await updates.next() == false)
        #expect(await updates.next() == true)
        system.report(true)
        system.report(false)
        #expect(await updates.next() == false)
    }
}
