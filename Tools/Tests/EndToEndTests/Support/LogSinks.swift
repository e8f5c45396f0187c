internal import Foundation
internal import Martlet
internal import NIOConcurrencyHelpers
internal import Testing

/// Captures every log that Martlet can write for an app, to search them for tokens after the test.
final class LogSinks: Sendable {
    /// The names of the sinks. The test fails if one of them captured nothing.
    enum Name: String, CaseIterable {
        case log, curl
    }

    private let lines = NIOLockedValueBox<[Name: [String]]>([:])
    private let listening = NIOLockedValueBox<[Task<Void, Never>]>([])

    func take(_ text: String, as name: Name) {
        lines.withLockedValue { $0[name, default: []].append(text) }
    }

    /// The observers that write to the sinks.
    var observers: [any NetworkObserver] { logs + [.curl { [self] in take($0, as: .curl) }] }

    /// Captures the events of a session too.
    func follow(_ tokens: TokenManager) {
        for log in logs {
            let task = log.follow(tokens)
            listening.withLockedValue { $0.append(task) }
        }
    }

    /// Stops capturing session events. Returns once all earlier events have been written.
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
        [.log(level: .debug) { [self] _, line in take(line, as: .log) }]
    }

    /// The lines that contain a token, with the sink's name and the token masked.
    func leaks(of tokens: Set<String>) -> [String] {
        let lines = lines.withLockedValue { $0 }
        var leaks: Set<String> = []
        for (name, lines) in lines {
            // One search over all tokens: there are far more lines than leaks.
            let text = Data(lines.joined(separator: "\n").utf8)
            for token in tokens where text.range(of: Data(token.utf8)) != nil {
                for line in lines where line.contains(token) {
                    leaks.insert("\(name): \(line.replacing(token, with: "TOKEN"))")
                }
            }
        }
        return leaks.sorted()
    }

    /// The sinks that captured nothing.
    var silent: [Name] {
        let lines = lines.withLockedValue { $0 }
        return Name.allCases.filter { lines[$0]?.isEmpty ?? true }
    }
}
