import Foundation
import Martlet
import MartletTesting
import Testing

@testable import MartletCommand

@Suite("The records of a store, in their order", .timeLimit(.minutes(10))) struct RecordHistoryTests {
    private func record(_ session: String, _ rotation: Int, _ token: String) -> StoreReading {
        .found(
            StoredSession(
                storing: Tokens(accessToken: "access", refreshToken: Secret(token)),
                id: SessionID(rawValue: session), rotation: rotation, at: .distantPast))
    }

    private func findings(_ readings: StoreReading...) -> (torn: Int, regressions: Int) {
        var history = RecordHistory()
        for reading in readings { _ = history.add(reading) }
        let findings = history.takeFindings()
        return (findings.torn.count, findings.regressions.count)
    }

    @Test("Rotations, an end and the next session are as they should be") func orderly() {
        let orderly = findings(
            .empty, record("a", 0, "0"), record("a", 1, "1"), record("a", 3, "3"), .empty, record("b", 0, "0"),
            record("c", 0, "0"))
        #expect(orderly == (0, 0))
    }

    @Test("A session that returns after its end, and one that was replaced, are regressions") func returned() {
        #expect(findings(record("a", 0, "0"), .empty, record("a", 0, "0")) == (0, 1))
        #expect(findings(record("a", 0, "0"), record("b", 0, "0"), record("a", 1, "1")) == (0, 1))
    }

    @Test("An earlier rotation, and other tokens of the same one, are regressions") func backwards() {
        #expect(findings(record("a", 2, "2"), record("a", 1, "1")) == (0, 1))
        #expect(findings(record("a", 2, "2"), record("a", 2, "two")) == (0, 1))
    }

    @Test("A record that cannot be read is torn, and the one before it still counts") func torn() {
        let damaged = StoreReading.unavailable(StorageError(.corrupt, "half a record"))
        #expect(findings(record("a", 2, "2"), damaged, record("a", 1, "1")) == (1, 1))
    }
}
