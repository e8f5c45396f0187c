import Martlet
import MartletTesting

// MARK: - The tokens of a former library

extension Invariant {
    static let adoptionsComeFirst = Invariant(
        rule: "Former tokens start one session at most, none after a session has ended, and replace no record."
    ) { facts in
        for (index, adoption) in facts.adoptions.enumerated() {
            let what = "call \(adoption.call) took over the former tokens at \(facts.time(adoption.position).text)"
            let change = facts.store.changes.first { $0.position == adoption.position }
            if let old = change?.old { return "\(what), in place of \(old.text)" }
            if let note = facts.adoptionNotes.first, note < adoption.position { return "\(what), which had been noted" }
            if index > 0 { return "\(what), for the second time" }
            if let end = facts.store.changes.last(where: { $0.new == nil && $0.position < adoption.position }) {
                return "\(what), after the end of \(end.old?.text ?? "a session")"
            }
        }
        for call in facts.calls {
            guard case .adoption = call.kind, let reply = call.response?.reply else { continue }
            let hasWritten = facts.adoptions.contains { $0.call == call.number }
            switch reply {
            case .signedIn where !hasWritten: return "call \(call.number) reported an adoption that did not happen"
            case .done where hasWritten: return "call \(call.number) did not report its adoption"
            default: continue
            }
        }
        return nil
    }

    static let formerTokensAreKept = Invariant(
        rule: "Former tokens are deleted only once a record is safe, and are not lost."
    ) { facts in
        guard let former = facts.former else { return nil }
        let isEmpty = facts.script.start == .nothing
        // A sign-out that could not read the store leaves a mark, even if there was no session.
        if let removal = facts.formerRemoval, isEmpty, facts.store.durable.values.allSatisfy({ $0 > removal }),
            !facts.calls.contains(where: { $0.kind.endsSessions && $0.position < removal })
        {
            return "the former tokens were deleted at \(facts.time(removal).text), before any record was written"
        }
        guard isEmpty, !facts.isRefused(former.family),
            !facts.calls.contains(where: \.kind.endsSessions),
            facts.formerRemoval != nil || !facts.adoptionNotes.isEmpty,
            case .settles(_, _, _, let stored)? = facts.history.entries.last?.what
        else { return nil }
        if stored.flatMap({ facts.family(of: $0.id) }) == former.family { return nil }
        return "the session of the former tokens is lost, although nothing has ended it"
    }
}
