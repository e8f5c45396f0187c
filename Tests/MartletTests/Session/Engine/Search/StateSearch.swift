@testable import Martlet

/// A breadth-first search of all worlds reachable from given ones. Each world is visited once, at its least depth.
struct StateSearch {
    /// A world and the path to it. A world is *at rest* when nothing is pending in it.
    final class Node: Hashable {
        let world: World
        let depth: Int
        let parent: Node?
        let event: SearchEvent?
        private let hash: Int
        /// The next world on the way to rest; `nil` at rest, or if not known yet.
        var next: Node?

        init(_ world: World, from parent: Node? = nil, by event: SearchEvent? = nil) {
            self.world = world
            self.depth = parent.map { $0.depth + 1 } ?? 0
            self.parent = parent
            self.event = event
            self.hash = world.hashValue
        }

        static func == (left: Node, right: Node) -> Bool { left.hash == right.hash && left.world == right.world }
        func hash(into hasher: inout Hasher) { hasher.combine(hash) }
    }

    /// A broken rule and the shortest path to it.
    struct Finding {
        let rule: SearchRule
        let story: [String]
    }

    /// What a search found, and how much it visited.
    struct Result {
        var worlds = 0
        var transitions = 0
        var worldsByDepth: [Int] = []
        /// The worlds met only on the way from the deepest worlds to rest.
        var worldsBeyond = 0
        var longestWayToRest = 0
        /// The number of worlds at rest.
        var ends = 0
        /// The first finding for each rule.
        var findings: [Finding] = []
    }

    let depth: Int
    var bounds = SearchBounds()
    var fault: SearchFault?
    /// Whether to stop at the first broken rule.
    var stopsAtFirst = false

    /// Searches from the given worlds. Yields now and then, because a search takes seconds.
    func run(from starts: [World]) async -> Result {
        var result = Result()
        var visited: Set<Node> = []
        var layer: [Node] = []
        for start in starts {
            let node = Node(start)
            if visited.insert(node).inserted { layer.append(node) }
        }
        result.worldsByDepth.append(layer.count)
        for _ in 0..<depth {
            var next: [Node] = []
            for (index, node) in layer.enumerated() {
                if index.isMultiple(of: 50) { await Task.yield() }
                let wayToRest = node.world.nextOnTheWayToRest
                for event in node.world.events(bounds) {
                    guard let reached = take(event, from: node, isOnWayToRest: event == wayToRest, &visited, &result)
                    else { continue }
                    if reached.isNew { next.append(reached.node) }
                    if event == wayToRest { node.next = reached.node }
                }
                if stopsAtFirst, !result.findings.isEmpty { return result }
            }
            layer = next
            result.worldsByDepth.append(layer.count)
        }
        result.worlds = visited.count
        await bringToRest(layer, &visited, &result)
        return result
    }

    private func take(
        _ event: SearchEvent, from node: Node, isOnWayToRest: Bool, _ visited: inout Set<Node>, _ result: inout Result
    ) -> (node: Node, isNew: Bool)? {
        let step = SearchStep(event, in: node.world, fault: fault)
        result.transitions += 1
        var isBroken = false
        for rule in SearchRule.ofSteps where !rule.isKept(by: step) {
            isBroken = true
            report(rule, at: node, before: event, &result)
        }
        // Worlds behind a broken rule give no further information.
        guard !isBroken, isOnWayToRest || bounds.include(step.after) else { return nil }
        let (isNew, member) = visited.insert(Node(step.after, from: node, by: event))
        return (member, isNew)
    }

    private func report(_ rule: SearchRule, at node: Node, before event: SearchEvent? = nil, _ result: inout Result) {
        guard !result.findings.contains(where: { $0.rule == rule }) else { return }
        result.findings.append(Finding(rule: rule, story: story(of: node, event)))
    }
}

// MARK: - Every path ends

extension StateSearch {
    /// The maximum length of a way to rest. A longer one counts as endless.
    static let longestWay = 60

    private func bringToRest(_ layer: [Node], _ visited: inout Set<Node>, _ result: inout Result) async {
        var layer = layer
        var rounds = 0
        while !layer.isEmpty, rounds < Self.longestWay {
            var next: [Node] = []
            for (index, node) in layer.enumerated() {
                if index.isMultiple(of: 500) { await Task.yield() }
                guard let event = node.world.nextOnTheWayToRest,
                    let reached = take(event, from: node, isOnWayToRest: true, &visited, &result)
                else { continue }
                node.next = reached.node
                if reached.isNew { next.append(reached.node) }
            }
            layer = next
            rounds += 1
        }
        result.worldsBeyond = visited.count - result.worlds
        var lengths: [ObjectIdentifier: Int] = [:]
        for node in visited.sorted(by: { $0.depth < $1.depth }) { check(node, &lengths, &result) }
    }

    private func check(_ start: Node, _ lengths: inout [ObjectIdentifier: Int], _ result: inout Result) {
        var way: [Node] = []
        var node = start
        while lengths[ObjectIdentifier(node)] == nil, let next = node.next {
            way.append(node)
            guard way.count <= Self.longestWay else { return report(.everyPathEnds, at: start, &result) }
            node = next
        }
        if lengths[ObjectIdentifier(node)] == nil {
            lengths[ObjectIdentifier(node)] = 0
            checkEnd(node, &result)
        }
        var length = lengths[ObjectIdentifier(node)] ?? 0
        for node in way.reversed() {
            length += 1
            lengths[ObjectIdentifier(node)] = length
        }
        result.longestWayToRest = max(result.longestWayToRest, length)
    }

    private func checkEnd(_ node: Node, _ result: inout Result) {
        // A rule broken on the way has already been reported.
        guard node.world.nextOnTheWayToRest == nil else { return }
        result.ends += 1
        if !node.world.waiters.isEmpty || !node.world.refreshes.isEmpty { report(.everyPathEnds, at: node, &result) }
        if !node.world.agreesWithStore { report(.storeAndMemoryAgreeAtRest, at: node, &result) }
        if !node.world.keepsEndedSessionsEndedAfterRestart { report(.endedSessionsStayEnded, at: node, &result) }
    }
}

// MARK: - The story of a finding

extension StateSearch {
    private func story(of node: Node, _ last: SearchEvent?) -> [String] {
        var way: [Node] = []
        var next: Node? = node
        while let here = next {
            way.append(here)
            next = here.parent
        }
        way.reverse()
        var lines = ["At first: \(way.first.map { $0.world.summary } ?? "")"]
        for (from, to) in zip(way, way.dropFirst()) {
            if let event = to.event { lines += tell(event, in: from.world) }
        }
        if let last { lines += tell(last, in: node.world) }
        return lines
    }

    private func tell(_ event: SearchEvent, in world: World) -> [String] {
        let step = SearchStep(event, in: world, fault: fault)
        var line = "- \(event)"
        if case .storeResponds = event, let task = world.storeTasks.first { line += " (\(task.words))" }
        let seen = step.actions.compactMap { action -> String? in
            if case .emit(let event) = action { "\(event)" } else { nil }
        }
        if !seen.isEmpty { line += ": " + seen.joined(separator: ", ") }
        return [line, "    now: \(step.after.summary)"]
    }
}

extension World {
    /// The state in one line.
    var summary: String {
        let state =
            switch machine.state {
            case .notLoaded: "not loaded"
            case .loading: "loading"
            case .unavailable: "unavailable"
            case .signedOut: "signed out"
            case .expired(let reason, let id): "\(id) expired, \(reason)"
            case .signedIn(let session):
                "\(session.record.stamp) \(session.phase.words)\(session.saveFailure == nil ? "" : ", unsaved")"
                    + "\(session.isVisible ? "" : ", unannounced")"
            }
        return "\(state); store: \(stored.map { "\($0.stamp)" } ?? "empty"), pending: "
            + "[\(storeTasks.map(\.words).joined(separator: ", "))]; "
            + "\(waiters.count) wait, \(woken.count) will ask again"
    }
}

extension SessionStateMachine.Phase {
    fileprivate var words: String {
        switch self {
        case .settled: "settled"
        case .preparing: "preparing a refresh"
        case .sending(_, let isInDoubt): isInDoubt ? "refreshing in doubt" : "refreshing"
        case .saving: "saving"
        case .confirmingExpiry: "confirming expiry"
        }
    }
}

extension World.StoreTask {
    fileprivate var words: String {
        switch self {
        case .load: "load"
        case .snapshot(let isOutdated): isOutdated ? "read again, outdated" : "read again"
        case .writeJournal: "write the journal"
        case .save(let job): "save \(job.record.stamp)"
        case .confirmExpiry(let job): "confirm expiry \(job.stamp)"
        case .delete(let deletion): "delete \(deletion.scope)"
        case .clearJournal: "clear journal"
        case .flush: "flush"
        }
    }
}
