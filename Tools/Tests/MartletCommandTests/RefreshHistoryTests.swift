import Martlet
import Testing

@testable import MartletCommand

@Suite("Explanation of a lost session", .timeLimit(.minutes(10))) struct RefreshHistoryTests {
    private let first = WorkerName(slot: 0, generation: 1)
    private let second = WorkerName(slot: 1, generation: 1)

    /// The first worker's refresh is granted but never stored; the second worker's refresh is refused.
    private func history(
        faults: (inout RefreshHistory) -> Void = { _ in }, afterwards: (inout RefreshHistory) -> Void = { _ in }
    ) -> RefreshHistory {
        var history = RefreshHistory()
        history.arrived(id: "a", from: first, at: .milliseconds(100))
        faults(&history)
        history.handled(id: "a", status: 200, at: .milliseconds(105))
        history.arrived(id: "b", from: second, at: .milliseconds(900))
        history.handled(id: "b", status: 401, at: .milliseconds(905))
        afterwards(&history)
        return history
    }

    @Test("No explanation without a fault") func nothing() {
        #expect(history().explanation() == nil)
    }

    @Test("A kill of the worker whose tokens were never stored explains the lost session") func kill() {
        let history = history { $0.faultInjected(first, .kill, at: .milliseconds(101)) }
        #expect(history.faults.map(\.isDuringRefresh) == [true])
        #expect(history.explanation() == .faultBeforeWrite(history.faults[0]))
    }

    @Test("A stop of a worker before it stored its tokens explains the lost session") func stop() {
        let history = history {
            $0.faultInjected(first, .stop, at: .milliseconds(101))
        } afterwards: {
            $0.resumed(first, at: .milliseconds(1200))
        }
        #expect(history.explanation() == .faultBeforeWrite(history.faults[0]))
    }

    @Test("A fault of another worker does not explain the lost session") func otherWorker() {
        let history = history { $0.faultInjected(second, .kill, at: .milliseconds(101)) }
        #expect(history.faults.map(\.isDuringRefresh) == [false])
        #expect(history.explanation() == nil)
    }

    @Test("A stop that ended before the refresh does not explain the lost session") func overBefore() {
        var history = RefreshHistory()
        history.faultInjected(first, .stop, at: .milliseconds(10))
        history.resumed(first, at: .milliseconds(90))
        history.arrived(id: "a", from: first, at: .milliseconds(100))
        history.handled(id: "a", status: 200, at: .milliseconds(105))
        history.arrived(id: "b", from: second, at: .milliseconds(900))
        history.handled(id: "b", status: 401, at: .milliseconds(905))
        #expect(history.explanation() == nil)
    }

    @Test("A stop during which the old token was sent explains it, even if the new tokens were stored later")
    func storedTooLate() {
        let history = history {
            $0.faultInjected(first, .stop, at: .milliseconds(101))
        } afterwards: {
            $0.resumed(first, at: .milliseconds(1200))
            $0.stored(rotation: 1)
        }
        #expect(history.explanation() == .faultBeforeWrite(history.faults[0]))
    }

    @Test(
        "A stop explains that the old token was sent, even if the new tokens were stored before it arrived",
        arguments: [(1203, true), (2300, false)])
    func storedInBetween(arrival: Int, isExplained: Bool) {
        var history = RefreshHistory()
        history.arrived(id: "a", from: first, at: .milliseconds(100))
        history.handled(id: "a", status: 200, at: .milliseconds(105))
        history.faultInjected(first, .stop, at: .milliseconds(106))
        history.resumed(first, at: .milliseconds(1200))
        history.stored(rotation: 1)
        history.arrived(id: "b", from: second, at: .milliseconds(arrival))
        history.handled(id: "b", status: 401, at: .milliseconds(arrival + 5))
        #expect(history.explanation() == (isExplained ? .faultBeforeWrite(history.faults[0]) : nil))
    }

    @Test("A stop during a refresh that brought no tokens does not explain it, despite an earlier grant")
    func storedEarlier() {
        var history = RefreshHistory()
        history.arrived(id: "a", from: first, at: .milliseconds(10))
        history.handled(id: "a", status: 200, at: .milliseconds(15))
        history.stored(rotation: 1)
        history.arrived(id: "b", from: first, at: .milliseconds(100))
        history.handled(id: "b", status: 503, at: .milliseconds(105))
        history.faultInjected(first, .stop, at: .milliseconds(106))
        history.resumed(first, at: .milliseconds(1200))
        history.arrived(id: "c", from: second, at: .milliseconds(1203))
        history.handled(id: "c", status: 401, at: .milliseconds(1208))
        #expect(history.explanation() == nil)
    }

    @Test("A stop does not explain a token that is two rotations old") func older() {
        var history = RefreshHistory()
        history.arrived(id: "a", from: first, at: .milliseconds(100))
        history.handled(id: "a", status: 200, at: .milliseconds(105))
        history.faultInjected(first, .stop, at: .milliseconds(106))
        history.resumed(first, at: .milliseconds(1200))
        history.stored(rotation: 2)
        history.arrived(id: "b", from: second, at: .milliseconds(1203))
        history.handled(id: "b", status: 401, at: .milliseconds(1208))
        #expect(history.explanation() == nil)
    }

    @Test("A fault of a worker whose tokens were stored does not explain the lost session") func written() {
        var history = RefreshHistory()
        history.arrived(id: "a", from: first, at: .milliseconds(100))
        history.handled(id: "a", status: 200, at: .milliseconds(105))
        history.stored(rotation: 1)
        #expect(history.faultInjected(first, .kill, at: .milliseconds(200)) == false)
        history.arrived(id: "b", from: second, at: .milliseconds(900))
        history.handled(id: "b", status: 401, at: .milliseconds(905))
        #expect(history.explanation() == nil)
    }

    @Test("A stop while a token was sent explains it, if the token was replaced during the stop") func sentInTwo() {
        var history = RefreshHistory()
        history.arrived(id: "a", from: first, at: .milliseconds(10))
        history.faultInjected(first, .stop, at: .milliseconds(11))
        history.arrived(id: "b", from: second, at: .milliseconds(1020))
        history.handled(id: "b", status: 200, at: .milliseconds(1025))
        history.stored(rotation: 1)
        history.resumed(first, at: .milliseconds(1400))
        history.handled(id: "a", status: 401, at: .milliseconds(1410))
        #expect(history.explanation() == .faultBeforeSending(history.faults[0]))
    }

    @Test("A kill explains it, even if a token of the previous session was refused earlier")
    func refusalOfPreviousSession() {
        var history = RefreshHistory()
        history.arrived(id: "old", from: first, at: .milliseconds(1))
        history.handled(id: "old", status: 401, at: .milliseconds(2))
        history.arrived(id: "a", from: first, at: .milliseconds(100))
        history.faultInjected(first, .kill, at: .milliseconds(101))
        history.handled(id: "a", status: 200, at: .milliseconds(105))
        history.arrived(id: "b", from: second, at: .milliseconds(900))
        history.handled(id: "b", status: 401, at: .milliseconds(905))
        #expect(history.explanation() == .faultBeforeWrite(history.faults[0]))
    }

    @Test("A stop after the refused request was handled does not explain it") func stoppedAfterwards() {
        var history = RefreshHistory()
        history.arrived(id: "a", from: first, at: .milliseconds(10))
        history.handled(id: "a", status: 401, at: .milliseconds(12))
        history.faultInjected(first, .stop, at: .milliseconds(13))
        history.resumed(first, at: .milliseconds(1400))
        #expect(history.explanation() == nil)
    }

    @Test("A stop right before a replaced token was sent explains it") func sentTooLate() {
        var history = RefreshHistory()
        history.faultInjected(first, .stop, at: .milliseconds(10))
        history.arrived(id: "a", from: second, at: .milliseconds(900))
        history.handled(id: "a", status: 200, at: .milliseconds(905))
        history.stored(rotation: 1)
        history.resumed(first, at: .milliseconds(1000))
        history.arrived(id: "b", from: first, at: .milliseconds(1003))
        history.handled(id: "b", status: 401, at: .milliseconds(1008))
        #expect(history.explanation() == .faultBeforeSending(history.faults[0]))
    }
}
