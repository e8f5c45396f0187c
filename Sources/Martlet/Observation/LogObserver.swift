#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Tells of every attempt in one line: method, path, status, time, size, and if it is another one, why it was made.
///
/// ```swift
/// var config = NetworkConfig()
/// config.observers = [.console()]                            // to standard error
/// config.observers = [.log { line in file.append("\(line)") }]
/// ```
///
/// Secrets are masked before an observer sees anything; see ``LogLine`` for what a line is made of. With
/// ``follow(_:)`` it tells of a session as well.
public final class LogObserver: NetworkObserver {
    /// What is known of a call that is under way.
    private struct Notes {
        var startedAt = Duration.zero
        var signature: SessionStamp?
        var isRenewed = false
        /// What the attempt before came to.
        var cause: String?
        var places: [String] = []
        /// What the last line has told.
        var told: Told?
    }

    fileprivate enum Told: Equatable {
        case status(Int)
        case failure(String)
    }

    private let level: LogLine.Level
    private let write: @Sendable (LogLine) -> Void
    private let calls = Locked<[UUID: Notes]>([:])

    /// Tells of every attempt in one line.
    /// - Parameters:
    ///   - level: What matters less than this is left out.
    ///   - write: Takes a line. Calls come from any thread, and may overlap.
    public init(level: LogLine.Level = .info, write: @escaping @Sendable (LogLine) -> Void) {
        self.level = level
        self.write = write
    }

    func tell(_ line: LogLine) {
        if line.level >= level { write(line) }
    }

    /// Notes when the attempt begins, and with which token.
    public func attemptWillStart(_ attempt: ObservedAttempt) {
        calls.withLock { calls in
            var notes = calls[attempt.callID] ?? Notes()
            notes.isRenewed = notes.signature != nil && attempt.signature != notes.signature
            notes.startedAt = attempt.elapsed
            notes.signature = attempt.signature
            notes.places = []
            calls[attempt.callID] = notes
        }
    }

    /// Notes where it goes.
    public func attemptWillRedirect(_ attempt: ObservedAttempt, to url: String) {
        calls.withLock { $0[attempt.callID]?.places.append(url) }
    }

    /// Tells of an answer.
    public func attemptDidReceive(_ attempt: ObservedAttempt, status: Int, bytes: Int) {
        let notes = note(.status(status), of: attempt)
        let level: LogLine.Level = status < 400 ? .info : status < 500 ? .notice : .error
        let took = LogLine.text(of: attempt.elapsed - notes.startedAt)
        tell(
            LogLine(
                level, attempt.request.method.rawValue, attempt.request.path ?? "",
                "\(status), \(took), \(LogLine.text(ofBytes: bytes))" + history(of: attempt, notes),
                note: notes.places.isEmpty ? "" : "by way of \(notes.places.joined(separator: ", "))"))
    }

    /// Tells of an attempt that got no answer.
    public func attemptDidFail(_ attempt: ObservedAttempt, error: NetworkError) {
        let notes = note(.failure(error.explanation), of: attempt)
        let what = error.isCancelled ? "cancelled" : "failed"
        let took = LogLine.text(of: attempt.elapsed - notes.startedAt)
        tell(
            LogLine(
                error.isCancelled ? .info : .notice, attempt.request.method.rawValue, attempt.request.path ?? "",
                "\(what) after \(took)" + history(of: attempt, notes),
                note: error.isCancelled ? "" : error.explanation))
    }

    /// Notes why there is another attempt.
    public func callWillRetry(_ call: ObservedCall, after delay: Duration, dueTo error: NetworkError) {
        let wait = delay > .zero ? " and \(LogLine.text(of: delay))" : ""
        calls.withLock { $0[call.id]?.cause = error.cause + wait }
    }

    /// Tells why a call was given up, where the last line does not.
    public func callDidFinish(_ call: FinishedCall) {
        let told = calls.withLock { $0.removeValue(forKey: call.id)?.told }
        guard case .failure(let error) = call.result, !error.isTold(by: told) else { return }
        let outcome =
            call.attempts == 0
            ? "not sent" : "given up after \(call.attempts) attempt\(call.attempts == 1 ? "" : "s")"
        tell(
            LogLine(
                error.isCancelled ? .info : .error, call.request.method.rawValue, call.request.path ?? "",
                "\(outcome), \(LogLine.text(of: call.duration))", note: error.explanation))
    }

    private func note(_ told: Told, of attempt: ObservedAttempt) -> Notes {
        calls.withLock { calls in
            calls[attempt.callID]?.told = told
            return calls[attempt.callID] ?? Notes()
        }
    }

    /// Why there is this attempt, if it is not the first.
    private func history(of attempt: ObservedAttempt, _ notes: Notes) -> String {
        guard attempt.number > 1 else { return "" }
        return ", attempt \(attempt.number)" + (notes.cause.map { " after \($0)" } ?? "")
            + (notes.isRenewed ? ", with a renewed token" : "")
    }
}

extension NetworkObserver where Self == LogObserver {
    /// Tells of every attempt in one line, which `write` takes: to a file, to a logging library.
    /// - Parameters:
    ///   - level: What matters less than this is left out.
    ///   - write: Takes a line. Calls come from any thread, and may overlap.
    public static func log(
        level: LogLine.Level = .info, write: @escaping @Sendable (LogLine) -> Void
    ) -> LogObserver { LogObserver(level: level, write: write) }

    /// Tells of every attempt in one line, in colours where the output is a terminal.
    /// - Parameters:
    ///   - output: Where lines go.
    ///   - level: What matters less than this is left out.
    public static func console(
        to output: LogOutput = .standardError, level: LogLine.Level = .info
    ) -> LogObserver {
        LogObserver(level: level) { line in output.write(output.showsColours ? line.coloured : line.description) }
    }
}

extension NetworkError {
    /// What an attempt came to, in two or three words.
    fileprivate var cause: String {
        if let answer { return "a \(answer.status)" }
        return switch self {
        case .offline: "being offline"
        case .cannotConnect: "no connection"
        case .connectionLost: "a lost connection"
        case .timedOut: "a timeout"
        default: "a failure"
        }
    }

    /// Whether a line about the last attempt has said as much.
    fileprivate func isTold(by told: LogObserver.Told?) -> Bool {
        switch (self, told) {
        case (.unacceptableStatus, .status(let status)), (.api, .status(let status)),
            (.unauthorized, .status(let status)):
            answer?.status == status
        case (_, .failure(let text)): text == explanation
        default: false
        }
    }
}
