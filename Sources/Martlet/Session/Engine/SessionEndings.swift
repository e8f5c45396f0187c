/// What is to be done when the sessions of calls end, such as closing a stream.
struct SessionEndings {
    private var entries: [Int: (owner: CallOwner, perform: @Sendable () -> Void)] = [:]

    mutating func add(_ id: Int, _ owner: CallOwner, _ perform: @escaping @Sendable () -> Void) {
        entries[id] = (owner, perform)
    }

    mutating func remove(_ id: Int) {
        entries[id] = nil
    }

    /// Removes and returns what is due: its session has ended.
    mutating func takeDue(_ machine: borrowing SessionStateMachine) -> [@Sendable () -> Void] {
        guard !entries.isEmpty else { return [] }
        var due: [@Sendable () -> Void] = []
        for (id, entry) in entries where machine.end(of: entry.owner) != nil {
            entries[id] = nil
            due.append(entry.perform)
        }
        return due
    }
}
