import Foundation
import Testing

@testable import Martlet

/// `MARTLET_SEARCH_DEPTH` adds steps to the depth of the searches. Two more steps take minutes.
@Suite("Search of session states") struct StateSearchTests {
    @Test(
        "every rule holds to depth 8 from each start",
        arguments: [false, true], [false, true])
    func deep(hasGrace: Bool, sharesStore: Bool) async {
        let starts = SearchStarts.main(hasGrace: hasGrace, sharesStore: sharesStore, isPrompt: true)
        let bounds = SearchBounds(waiters: 1, sessions: 2, tasks: 3, isBroad: true)
        let result = await search(from: starts, depth: 8, bounds, "deep, grace \(hasGrace), shared \(sharesStore)")
        #expect(result.worlds > (sharesStore ? 30_000 : 18_000))
        #expect(result.ends > 50)
    }

    @Test(
        "every rule holds to depth 3 with all variants of events and with delays everywhere",
        arguments: [false, true], [false, true])
    func wide(hasGrace: Bool, sharesStore: Bool) async {
        let starts = SearchStarts.all(hasGrace: hasGrace, sharesStore: sharesStore, isPrompt: false)
        let result = await search(
            from: starts, depth: 3, SearchBounds(), "wide, grace \(hasGrace), shared \(sharesStore)")
        #expect(result.worlds > (sharesStore ? 4_000 : 2_000))
        #expect(result.ends > 50)
    }

    @Test("the search finds each injected fault", arguments: SearchFault.all)
    func finds(_ fault: SearchFault) async {
        let bounds = SearchBounds(waiters: 1, sessions: 2, tasks: 3, isBroad: true)
        let search = StateSearch(depth: 4, bounds: bounds, fault: fault, stopsAtFirst: true)
        let result = await search.run(from: SearchStarts.all(hasGrace: false, sharesStore: false, isPrompt: true))
        let found = result.findings.first { fault.breaks.contains($0.rule) }
        #expect(found != nil, "the search missed a machine that \(fault.name)")
        // The story has one line for the start, and two for each step: the event and its outcome.
        #expect((found?.story.count ?? 0) % 2 == 1)
    }

    private func search(
        from starts: [World], depth: Int, _ bounds: SearchBounds, _ name: String
    ) async -> StateSearch.Result {
        let extra = ProcessInfo.processInfo.environment["MARTLET_SEARCH_DEPTH"].flatMap { Int($0) } ?? 0
        let result = await StateSearch(depth: depth + extra, bounds: bounds).run(from: starts)
        for finding in result.findings {
            Issue.record("\(finding.rule) is broken:\n\(finding.story.joined(separator: "\n"))")
        }
        #expect(result.worldsByDepth.count == depth + extra + 1)
        print(
            "State search (\(name)): depth \(depth + extra) from \(starts.count) starts, \(result.worlds) worlds"
                + " (by depth \(result.worldsByDepth)), \(result.transitions) transitions; to rest in at most"
                + " \(result.longestWayToRest) steps over \(result.worldsBeyond) more, \(result.ends) ends")
        return result
    }
}
