internal import Foundation
internal import Martlet
internal import NIOConcurrencyHelpers
internal import Testing

/// Every log that Martlet can write, attached to an app, and searched for tokens when its test is over.
final class LogSinks: Sendable {
    /// The names of the sinks, each of which must have something in it.
    enum Name: String, CaseIterable {
        case console, colours, logger, curl
    }

    private let lines = NIOLockedValueBox<[Name: [String]]>([:])
    private let listening = NIOLockedValueBox<[Task<Void, Never>]>([])

    func take(_ text: String, as name: Name) {
        lines.withLockedValue { $0[name, default: []].append(text) }
    }

    /// What writes to the sinks.
    var observers: [any NetworkObserver] { logs + [.curl(to: output(.curl))] }

    /// Lets the sinks take what happens to a session too.
    func follow(_ tokens: TokenManager) {
        for log in logs {
            let task = log.follow(tokens)
            listening.withLockedValue { $0.append(task) }
        }
    }

    /// Stops listening to sessions; what they have told already is written before this returns.
    func finish() async {
        let tasks = listening.withLockedValue { listening in
            defer { listening = [] }
            return listening
        }
        for task in tasks {
            task.cancel()
            await task.value
        }
    }

    private var logs: [LogObserver] {
        [
            .console(to: output(.console), level: .debug), .console(to: output(.colours, showsColours: true)),
            // As the unified logging system gets it.
            .log(level: .debug) { [self] line in
                take([line.subject, line.target, line.outcome, line.note].joined(separator: "\n"), as: .logger)
            },
        ]
    }

    private func output(_ name: Name, showsColours: Bool = false) -> LogOutput {
        LogOutput(showsColours: showsColours) { [self] in take($0, as: name) }
    }

    /// The lines with one of the tokens in them, each with the sink's name, and without the token so that it can be shown.
    func leaks(of tokens: Set<String>) -> [String] {
        let lines = lines.withLockedValue { $0 }
        var leaks: Set<String> = []
        for (name, lines) in lines {
            // All at once: there are far more lines than leaks.
            let text = Data(lines.joined(separator: "\n").utf8)
            for token in tokens where text.range(of: Data(token.utf8)) != nil {
                for line in lines where line.contains(token) {
                    leaks.insert("\(name): \(line.replacing(token, with: "TOKEN"))")
                }
            }
        }
        return leaks.sorted()
    }

    /// The sinks that have nothing in them.
    var silent: [Name] {
        let lines = lines.withLockedValue { $0 }
        return Name.allCases.filter { lines[$0]?.isEmpty ?? true }
    }
}
