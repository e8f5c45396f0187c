import NIOConcurrencyHelpers

/// The active fault rules, in the order of their injection.
final class FaultQueue: Sendable {
    private struct Entry {
        let id: FaultID
        var rule: FaultRule
    }

    private struct State {
        var entries: [Entry] = []
        var lastID = 0
    }

    private let state = NIOLockedValueBox(State())

    func add(_ rule: FaultRule) -> FaultID {
        state.withLockedValue { state in
            state.lastID += 1
            let id = FaultID(number: state.lastID)
            state.entries.append(Entry(id: id, rule: rule))
            return id
        }
    }

    func remove(_ id: FaultID) {
        state.withLockedValue { $0.entries.removeAll { $0.id == id } }
    }

    func removeAll() {
        state.withLockedValue { $0.entries = [] }
    }

    var rules: [(id: FaultID, rule: FaultRule)] {
        state.withLockedValue { $0.entries.map { ($0.id, $0.rule) } }
    }

    /// Returns the rule that applies to a request and counts one use of it.
    func take(method: String, path: String) -> FaultRule? {
        state.withLockedValue { state in
            for index in state.entries.indices
            where state.entries[index].rule.pattern.matches(method: method, path: path) {
                if state.entries[index].rule.after > 0 {
                    state.entries[index].rule.after -= 1
                    continue
                }
                let rule = state.entries[index].rule
                if let times = rule.times {
                    state.entries[index].rule.times = times - 1
                    if times <= 1 { state.entries.remove(at: index) }
                }
                return rule
            }
            return nil
        }
    }
}
