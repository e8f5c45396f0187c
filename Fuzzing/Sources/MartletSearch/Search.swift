import TrapReporting

@testable import MartletTesting

/// A breadth-first search of all sequences of choices, up to a depth. Each world is visited once.
///
/// A world cannot be copied, because it consists of suspended tasks. Each one is built by repeating the choices that
/// lead to it.
final class Search {
    /// A visited world, as the choice that led to it from another one.
    struct Node {
        let start: Int
        let parent: Int?
        let choice: Choice?
    }

    /// A world of the current depth, and the choices that are possible in it.
    private struct Open {
        let node: Int
        let disturbances: Int
        let isBusy: Bool
        let choices: [Choice]
    }

    /// A violated rule and the shortest way to it.
    struct Finding {
        let rule: Rule
        let setting: Setting
        let start: Start
        let choices: [Choice]
    }

    let setting: Setting
    let depth: Int
    /// The greatest number of disturbances in a sequence.
    let disturbances: Int
    let bounds: Bounds
    /// The time to stop at the latest; `nil` to search everything. A search with a time limit stops at the first
    /// violation.
    let end: ContinuousClock.Instant?
    let scheduler: StepScheduler
    private let starts: [Start]
    private var nodes: [Node] = []
    /// For each world, by its digest: the disturbances that were left when it was visited.
    private var visited: [UInt64: Int] = [:]
    private(set) var transitions = 0
    private(set) var worlds: [Int] = []
    private(set) var findings: [Finding] = []

    /// Whether a rule is violated that the engine should keep.
    private var hasViolations: Bool { total.violations > 0 }

    var total: Total {
        var total = Total()
        total.worlds = worlds.last ?? 0
        total.transitions = transitions
        total.violations = findings.filter { !Rule.open.contains($0.rule) }.count
        return total
    }

    init(
        _ setting: Setting, depth: Int, disturbances: Int, bounds: Bounds, until end: ContinuousClock.Instant?,
        on scheduler: StepScheduler
    ) {
        self.setting = setting
        self.depth = depth
        self.disturbances = disturbances
        self.bounds = bounds
        self.end = end
        self.scheduler = scheduler
        starts = Start.all(setting)
    }

    func run() {
        var layer: [Open] = []
        for index in starts.indices { visit(Node(start: index, parent: nil, choice: nil), disturbances, &layer) }
        worlds.append(visited.count)
        for _ in 0..<depth {
            var next: [Open] = []
            // Worlds with more disturbances left come first, so that a world is rarely visited twice.
            for open in layer.sorted(by: { $0.disturbances > $1.disturbances }) {
                for choice in open.choices {
                    let left = open.disturbances - (choice.isDisturbance(isBusy: open.isBusy) ? 1 : 0)
                    guard left >= 0 else { continue }
                    let start = nodes[open.node].start
                    visit(Node(start: start, parent: open.node, choice: choice), left, &next)
                    if let end, hasViolations || end < .now { return }
                }
            }
            layer = next
            worlds.append(visited.count)
        }
    }

    private func visit(_ node: Node, _ disturbances: Int, _ layer: inout [Open]) {
        let path = path(to: node)
        TrapReporter.begin { Self.describe(self.setting, self.starts[node.start], path) }
        let world = World(setting, starts[node.start].stored, on: scheduler)
        defer { world.close() }
        for choice in starts[node.start].choices { world.take(choice) }
        for choice in path { world.take(choice) }
        transitions += 1
        var digest = world.digest
        let (choices, isBusy) = (world.choices(bounds), world.isBusy)
        if world.rules.violation == nil { world.rest(&digest) }
        let violated = world.rules.openViolations.union(world.rules.violation.map { [$0.rule] } ?? [])
        for rule in violated where !findings.contains(where: { $0.rule == rule }) {
            findings.append(Finding(rule: rule, setting: setting, start: starts[node.start], choices: path))
        }
        // Worlds that follow a violated rule give no further information.
        if !violated.isEmpty { return }
        if let before = visited[digest.value], before >= disturbances { return }
        visited[digest.value] = disturbances
        nodes.append(node)
        layer.append(Open(node: nodes.count - 1, disturbances: disturbances, isBusy: isBusy, choices: choices))
    }

    private func path(to node: Node) -> [Choice] {
        var path: [Choice] = []
        var next: Node? = node
        while let here = next {
            if let choice = here.choice { path.append(choice) }
            next = here.parent.map { nodes[$0] }
        }
        return path.reversed()
    }
}

// MARK: - Stories

extension Search {
    static func describe(_ setting: Setting, _ start: Start, _ choices: [Choice]) -> String {
        (["\(setting.words); from \(start.words):"] + choices.map { "- \($0)" }).joined(separator: "\n")
    }
}

extension Search.Finding {
    /// Takes the same choices again, and tells what happens.
    func story(on scheduler: StepScheduler) -> String {
        let world = World(setting, start.stored, on: scheduler, isTold: true)
        for choice in start.choices + choices { world.take(choice) }
        var digest = world.digest
        if world.rules.violation == nil { world.rest(&digest) }
        let lines = world.story ?? []
        world.story = nil
        world.close()
        let title = Rule.open.contains(rule) ? "OPEN" : "VIOLATION"
        return (["\(title)  \(rule.rawValue)", "\(setting.words); from \(start.words)"] + lines)
            .joined(separator: "\n")
    }
}
