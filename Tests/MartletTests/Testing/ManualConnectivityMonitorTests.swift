import MartletTesting
import Testing

@testable import Martlet

@Suite("A connectivity monitor for tests", .timeLimit(.minutes(10))) struct ManualConnectivityMonitorTests {
    @Test("it reports its current value and then each change, and no value twice") func changes() async {
        let network = ManualConnectivityMonitor()
        var updates = network.updates.makeAsyncIterator()
        for isConnected in [true, false, false, true] { network.setConnected(isConnected) }
        var seen: [Bool?] = []
        for _ in 1...3 { seen.append(await updates.next()) }
        #expect(seen == [true, false, true])
    }
}
