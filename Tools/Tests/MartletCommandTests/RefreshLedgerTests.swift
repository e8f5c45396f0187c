import Martlet
import Testing

@testable import MartletCommand

@Suite("What explains a lost session") struct RefreshLedgerTests {
    private let first = WorkerName(slot: 0, generation: 1)
    private let second = WorkerName(slot: 1, generation: 1)

    /// The first worker's refresh is granted and never written; the second one's is refused.
    private func ledger(
        strikes: (inout RefreshLedger) -> Void = { _ in }, afterwards: (inout RefreshLedger) -> Void = { _ in }
    ) -> RefreshLedger {
        var ledger = RefreshLedger()
        ledger.arrived(id: "a", from: first, at: .milliseconds(100))
        strikes(&ledger)
        ledger.handled(id: "a", status: 200, at: .milliseconds(105))
        ledger.arrived(id: "b", from: second, at: .milliseconds(900))
        ledger.handled(id: "b", status: 401, at: .milliseconds(905))
        afterwards(&ledger)
        return ledger
    }

    @Test("Nothing does where nobody was struck") func nothing() {
        #expect(ledger().explanation() == nil)
    }

    @Test("A kill of the worker whose tokens were never written") func kill() {
        let ledger = ledger { $0.struck(first, .kill, at: .milliseconds(101)) }
        #expect(ledger.strikes.map(\.isInWindow) == [true])
        #expect(ledger.explanation() == .struckBeforeWrite(ledger.strikes[0]))
    }

    @Test("A stop that was still on when the refresh had come, whenever it ended") func stop() {
        let ledger = ledger {
            $0.struck(first, .stop, at: .milliseconds(101))
        } afterwards: {
            $0.wentOn(first, at: .milliseconds(1200))
        }
        #expect(ledger.explanation() == .struckBeforeWrite(ledger.strikes[0]))
    }

    @Test("Not a strike at anybody else") func somebodyElse() {
        let ledger = ledger { $0.struck(second, .kill, at: .milliseconds(101)) }
        #expect(ledger.strikes.map(\.isInWindow) == [false])
        #expect(ledger.explanation() == nil)
    }

    @Test("Not a stop that was over before") func overBefore() {
        var ledger = RefreshLedger()
        ledger.struck(first, .stop, at: .milliseconds(10))
        ledger.wentOn(first, at: .milliseconds(90))
        ledger.arrived(id: "a", from: first, at: .milliseconds(100))
        ledger.handled(id: "a", status: 200, at: .milliseconds(105))
        ledger.arrived(id: "b", from: second, at: .milliseconds(900))
        ledger.handled(id: "b", status: 401, at: .milliseconds(905))
        #expect(ledger.explanation() == nil)
    }

    @Test("A stop during which the token came back, though its tokens were written in the end") func writtenTooLate() {
        let ledger = ledger {
            $0.struck(first, .stop, at: .milliseconds(101))
        } afterwards: {
            $0.wentOn(first, at: .milliseconds(1200))
            $0.stored(rotation: 1)
        }
        #expect(ledger.explanation() == .struckBeforeWrite(ledger.strikes[0]))
    }

    @Test("Not a strike at a worker whose tokens were written") func written() {
        var ledger = RefreshLedger()
        ledger.arrived(id: "a", from: first, at: .milliseconds(100))
        ledger.handled(id: "a", status: 200, at: .milliseconds(105))
        ledger.stored(rotation: 1)
        #expect(ledger.struck(first, .kill, at: .milliseconds(200)) == false)
        ledger.arrived(id: "b", from: second, at: .milliseconds(900))
        ledger.handled(id: "b", status: 401, at: .milliseconds(905))
        #expect(ledger.explanation() == nil)
    }

    @Test("A stop in the middle of sending a token that was replaced before the rest of it came") func sentInTwo() {
        var ledger = RefreshLedger()
        ledger.arrived(id: "a", from: first, at: .milliseconds(10))
        ledger.struck(first, .stop, at: .milliseconds(11))
        ledger.arrived(id: "b", from: second, at: .milliseconds(1020))
        ledger.handled(id: "b", status: 200, at: .milliseconds(1025))
        ledger.stored(rotation: 1)
        ledger.wentOn(first, at: .milliseconds(1400))
        ledger.handled(id: "a", status: 401, at: .milliseconds(1410))
        #expect(ledger.explanation() == .struckBeforeSending(ledger.strikes[0]))
    }

    @Test("A kill, though a token of the session before was refused earlier") func refusalOfAnother() {
        var ledger = RefreshLedger()
        ledger.arrived(id: "old", from: first, at: .milliseconds(1))
        ledger.handled(id: "old", status: 401, at: .milliseconds(2))
        ledger.arrived(id: "a", from: first, at: .milliseconds(100))
        ledger.struck(first, .kill, at: .milliseconds(101))
        ledger.handled(id: "a", status: 200, at: .milliseconds(105))
        ledger.arrived(id: "b", from: second, at: .milliseconds(900))
        ledger.handled(id: "b", status: 401, at: .milliseconds(905))
        #expect(ledger.explanation() == .struckBeforeWrite(ledger.strikes[0]))
    }

    @Test("Not a stop that began when all of the refused token had been there") func stoppedAfterwards() {
        var ledger = RefreshLedger()
        ledger.arrived(id: "a", from: first, at: .milliseconds(10))
        ledger.handled(id: "a", status: 401, at: .milliseconds(12))
        ledger.struck(first, .stop, at: .milliseconds(13))
        ledger.wentOn(first, at: .milliseconds(1400))
        #expect(ledger.explanation() == nil)
    }

    @Test("A stop right before a token was sent that had been replaced meanwhile") func sentTooLate() {
        var ledger = RefreshLedger()
        ledger.struck(first, .stop, at: .milliseconds(10))
        ledger.arrived(id: "a", from: second, at: .milliseconds(900))
        ledger.handled(id: "a", status: 200, at: .milliseconds(905))
        ledger.stored(rotation: 1)
        ledger.wentOn(first, at: .milliseconds(1000))
        ledger.arrived(id: "b", from: first, at: .milliseconds(1003))
        ledger.handled(id: "b", status: 401, at: .milliseconds(1008))
        #expect(ledger.explanation() == .struckBeforeSending(ledger.strikes[0]))
    }
}
