import Testing

@testable import MartletCommand

@Suite("Figures of a run with foreign servers", .timeLimit(.minutes(10))) struct InteropFiguresTests {
    /// A run of three refreshes in which nothing went wrong.
    private var figures: InteropFigures {
        var figures = InteropFigures(title: "Django SimpleJWT", lifetime: 5)
        figures.seen = InteropTally(calls: 100, refreshes: 3, adoptions: 9)
        (figures.served, figures.rejected, figures.refreshes, figures.rotation) = (100, 4, 3, 3)
        figures.lives = [3.4, 4.5]
        return figures
    }

    private func violations(_ change: (inout InteropFigures) -> Void) -> [String] {
        var figures = figures
        change(&figures)
        return figures.violations
    }

    @Test("calls that were replayed violate nothing") func clean() {
        #expect(figures.violations.isEmpty)
    }

    @Test("a failed call is a violation, with its reason") func failedCall() {
        let found = violations {
            $0.seen.failures = ["offline": 2]
            $0.served = 98
        }
        #expect(found == ["2 times: offline"])
    }

    @Test("a second refresh of one token is a violation") func extraRefresh() {
        #expect(violations { $0.lives = [4.5, 0.1] } == ["1 refreshes came too early"])
    }

    @Test("the server, the processes and the record must count the same refreshes") func counts() {
        #expect(violations { $0.rotation = 2 } == ["the record has rotation 2"])
        #expect(violations { $0.seen.refreshes = 4 } == ["the processes count 4 refreshes"])
        #expect(violations { $0.refused = 1 } == ["the server refused 1 refreshes"])
        #expect(violations { $0.served = 99 } == ["the server accepted 99 calls"])
    }

    @Test("a run without a refresh proves nothing") func noRefresh() {
        let found = violations {
            ($0.refreshes, $0.rotation, $0.seen.refreshes) = (0, 0, 0)
            $0.lives = []
        }
        #expect(found == ["no token was refreshed"])
    }
}
