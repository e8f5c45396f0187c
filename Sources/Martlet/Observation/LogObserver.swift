#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Logs each attempt as one line: method, path, status, time and size, and why it was repeated.
///
/// ```swift
/// var config = NetworkConfig()
/// config.observers = [.console()]                            // to standard error
/// config.observers = [.log { level, line in logger.log(line) }]
/// ```
///
/// Secrets are masked. Call ``follow(_:)`` to log the events of a session as well.
public final class LogObserver: NetworkObserver {
    /// The importance of a line.
    public enum Level: Int, Sendable, Hashable {
        /// Details for finding a fault in Martlet itself, such as a caller that waits for a refresh.
        case debug
        /// Normal operation: a successful attempt, a new token.
        case info
        /// A 4xx response, or a failure that another attempt may fix, such as a lost connection.
        case notice
        /// A 5xx response, a call that has failed for good, or a session that the server has ended.
        case error
    }

    /// The previous attempts and the current one of a call that is under way.
    private struct CallRecord {
        var startedAt = Duration.zero
        var stamp: SessionStamp?
        var hasNewToken = false
        /// Why the previous attempt failed.
        var cause: String?
        var redirects: [String] = []
        /// The outcome in the call's last line.
        var logged: Outcome?
    }

    /// The outcome of an attempt: a status, or an error with this text.
    fileprivate enum Outcome: Equatable {
        case status(Int)
        case failure(String)
    }

    private let level: Level
    private let write: @Sendable (LogLine) -> Void
    /// Whether lines contain the metrics of the attempt's last request.
    private let showsMetrics: Bool
    private let calls = Locked<[UUID: CallRecord]>([:])

    /// Writes each attempt as a `curl` command; `nil` for lines only.
    private let writeCurl: (@Sendable (ObservedCall) -> Void)?

    init(
        level: Level = .info, showsMetrics: Bool = false, writeCurl: (@Sendable (ObservedCall) -> Void)? = nil,
        write: @escaping @Sendable (LogLine) -> Void
    ) {
        self.level = level
        self.showsMetrics = showsMetrics
        self.writeCurl = writeCurl
        self.write = write
    }

    func log(_ line: LogLine) {
        if line.level.rawValue >= level.rawValue { write(line) }
    }

    /// Logs the event if it is the end of an attempt, of a call or of a stream, or a wait for a network.
    public func observe(_ event: CallEvent) {
        switch event {
        case .attemptStarted(let call): attemptStarted(call)
        case .redirected(let call, let url): calls.withLock { $0[call.id]?.redirects.append(url) }
        case .received(let call, let response): received(response, call)
        case .attemptFailed(let call, let error): attemptFailed(call, error)
        case .waitingForConnectivity(let call): waiting(call)
        case .retrying(let call, let delay, let error):
            let wait = delay > .zero ? " and \(LogLine.text(of: delay))" : ""
            calls.withLock { $0[call.id]?.cause = error.cause + wait }
        case .finished(let call, let result): finished(call, result)
        case .streamBroke(let call, let error): streamBroke(call, error)
        case .started: break
        }
    }

    /// Records the start of the attempt and its token.
    private func attemptStarted(_ call: ObservedCall) {
        writeCurl?(call)
        calls.withLock { calls in
            var callRecord = calls[call.id] ?? CallRecord()
            callRecord.hasNewToken = callRecord.stamp != nil && call.stamp != callRecord.stamp
            callRecord.startedAt = call.elapsed
            callRecord.stamp = call.stamp
            callRecord.redirects = []
            calls[call.id] = callRecord
        }
    }

    private func received(_ response: ObservedResponse, _ call: ObservedCall) {
        let status = response.status
        let size = response.isStream ? "stream" : LogLine.text(ofBytes: response.bytes)
        let level: Level = status < 400 ? .info : status < 500 ? .notice : .error
        let callRecord = record(.status(status), of: call, at: level)
        let time = LogLine.text(of: call.elapsed - callRecord.startedAt)
        log(
            LogLine(
                level, call.request.method.rawValue, call.request.path ?? "",
                "\(status), \(time), \(size)" + history(of: call, callRecord),
                note: callRecord.redirects.isEmpty ? "" : "via \(callRecord.redirects.joined(separator: ", "))"))
    }

    private func attemptFailed(_ call: ObservedCall, _ error: NetworkError) {
        let level: Level = error.isCancelled ? .info : .notice
        let callRecord = record(.failure(error.details), of: call, at: level)
        let outcome = error.isCancelled ? "cancelled" : "failed"
        let time = LogLine.text(of: call.elapsed - callRecord.startedAt)
        log(
            LogLine(
                level, call.request.method.rawValue, call.request.path ?? "",
                "\(outcome) after \(time)" + history(of: call, callRecord),
                note: error.isCancelled ? "" : error.details))
    }

    /// Logs why the call failed, unless the line of its last attempt says the same.
    private func finished(_ call: ObservedCall, _ result: Result<Int, NetworkError>) {
        let logged = calls.withLock { $0.removeValue(forKey: call.id)?.logged }
        guard case .failure(let error) = result, !error.isCovered(by: logged) else { return }
        let attempts = " after \(call.attempt) attempt\(call.attempt == 1 ? "" : "s")"
        let outcome = error.isCancelled ? "cancelled" : call.attempt == 0 ? "not sent" : "failed"
        log(
            LogLine(
                error.isCancelled ? .info : .error, call.request.method.rawValue, call.request.path ?? "",
                "\(outcome)\(call.attempt == 0 ? "" : attempts), \(LogLine.text(of: call.elapsed))",
                note: error.isCancelled ? "" : error.details))
    }

    private func waiting(_ call: ObservedCall) {
        // Log the error again if the network does not return in time: the call then fails with it.
        calls.withLock { $0[call.id]?.logged = nil }
        log(LogLine(.notice, call.request.method.rawValue, call.request.path ?? "", "waits for a network"))
    }

    private func streamBroke(_ call: ObservedCall, _ error: NetworkError) {
        log(
            LogLine(
                error.isCancelled ? .info : .notice, call.request.method.rawValue, call.request.path ?? "",
                "\(error.isCancelled ? "stream cancelled" : "stream broke off") after \(LogLine.text(of: call.elapsed))",
                note: error.isCancelled ? "" : error.details))
    }

    private func record(_ outcome: Outcome, of call: ObservedCall, at level: Level) -> CallRecord {
        calls.withLock { calls in
            // The response of an interceptor or of the cache comes without the start of an attempt. A line below the
            // minimum level is not written, so the line of the call has to say the outcome.
            calls[call.id, default: CallRecord()].logged = level.rawValue >= self.level.rawValue ? outcome : nil
            return calls[call.id] ?? CallRecord()
        }
    }

    /// The reason why the attempt was made, if it is not the first, and the metrics of its transfer, if they are shown.
    private func history(of call: ObservedCall, _ callRecord: CallRecord) -> String {
        let transfer = showsMetrics ? call.metrics?.logText ?? "" : ""
        let suffix = transfer.isEmpty ? "" : ", \(transfer)"
        guard call.attempt > 1 else { return suffix }
        return ", attempt \(call.attempt)" + (callRecord.cause.map { " after \($0)" } ?? "")
            + (callRecord.hasNewToken ? ", with a refreshed token" : "") + suffix
    }
}

extension NetworkObserver where Self == LogObserver {
    /// Logs each attempt as one line of text to a closure: to a file, or to a logging library.
    /// - Parameters:
    ///   - level: Lines below this level are left out.
    ///   - showsMetrics: Whether a line contains the ``TransferMetrics`` of the attempt.
    ///   - write: Writes a line. The closure may be called from any thread, and concurrently.
    public static func log(
        level: LogObserver.Level = .info, showsMetrics: Bool = false,
        write: @escaping @Sendable (LogObserver.Level, String) -> Void
    ) -> LogObserver {
        LogObserver(level: level, showsMetrics: showsMetrics) { line in write(line.level, line.description) }
    }

    /// Logs each attempt as one line to standard error, in colors if that is a terminal.
    ///
    /// There are no colors in Xcode's console, on devices, or if the environment has a `NO_COLOR` that is not empty.
    /// - Parameters:
    ///   - level: Lines below this level are left out.
    ///   - usesStandardOutput: Whether lines go to standard output instead.
    ///   - showsMetrics: Whether a line contains the ``TransferMetrics`` of the attempt.
    public static func console(
        level: LogObserver.Level = .info, usesStandardOutput: Bool = false, showsMetrics: Bool = false
    ) -> LogObserver {
        .console(
            to: usesStandardOutput ? .standardOutput : .standardError, level: level, showsMetrics: showsMetrics)
    }

    static func console(
        to output: LogOutput, level: LogObserver.Level = .info, showsMetrics: Bool = false
    ) -> LogObserver {
        LogObserver(level: level, showsMetrics: showsMetrics) { line in
            output.write(output.showsColors ? line.colored : line.description)
        }
    }
}

extension NetworkError {
    /// The reason why an attempt failed, in two or three words.
    fileprivate var cause: String {
        if let response { return "a \(response.status)" }
        return switch self {
        case .offline: "being offline"
        case .cannotConnect: "no connection"
        case .connectionLost: "a lost connection"
        case .timedOut: "a timeout"
        default: "a failure"
        }
    }

    /// Whether the line of the last attempt says the same.
    fileprivate func isCovered(by logged: LogObserver.Outcome?) -> Bool {
        switch (self, logged) {
        case (.unacceptableStatus, .status(let status)), (.api, .status(let status)),
            (.unauthorized, .status(let status)):
            // The line of a response that reports its failure in the body looks successful.
            response?.status == status && status >= 400
        case (_, .failure(let text)): text == details
        default: false
        }
    }
}
