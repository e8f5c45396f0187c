internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Sends the request of an attempt, within one time limit.
final class AttemptRunner: Sendable {
    let config: NetworkConfig
    let allowsInsecureHTTP: Bool
    let authorizer: Authorizer?
    let transport: any Transport
    let time: any TimeSource
    /// The same transport, if it keeps time limits by itself and the client uses the clock that it uses.
    private let punctual: (any PunctualTransport)?
    private let limits: TimeLimits

    var waitsForContinue: Bool { transport.waitsForContinue }

    init(config: NetworkConfig, authorizer: Authorizer?, transport: any Transport, time: any TimeSource) {
        self.config = config
        self.allowsInsecureHTTP = config.allowsInsecureHTTP || authorizer?.tokens.allowsInsecureHTTP == true
        self.authorizer = authorizer
        self.transport = transport
        self.time = time
        self.punctual = time is SystemTimeSource ? transport as? any PunctualTransport : nil
        self.limits = TimeLimits(time: time)
    }

    func run(
        _ request: HTTPRequest, at origin: Origin, for call: CallState
    ) async throws -> (response: ServerResponse, report: Exchange.Report) {
        // Not within the task: an attempt abandoned before it starts would take its successor's progress for its own.
        var exchange = Exchange(request, at: origin, for: call, by: self)
        guard let punctual, call.isShort else {
            return try await withLimit(of: call) { [exchange] progress in
                var exchange = exchange
                return try await exchange.run(for: call, within: .restarted(by: progress))
            }
        }
        let limit = limit(of: call)
        do {
            return try await exchange.run(for: call, within: .kept(by: punctual, until: time.uptime + limit))
        } catch is DeadlineError {
            throw TimeLimitError(limit: limit)
        }
    }

    /// Runs a part of an attempt in a task that is abandoned if it makes no progress for too long.
    func withLimit<Value: Sendable>(
        of call: CallState, _ operation: @escaping @Sendable (ProgressSignal) async throws -> Value
    ) async throws -> Value {
        try await limits.run(withoutProgressFor: limit(of: call), operation).get()
    }

    private func limit(of call: CallState) -> Duration {
        call.context.endpoint.timeout ?? config.timeout
    }
}

extension CallState {
    /// Whether the time limit never restarts: the call sends and receives bytes in memory, and reports no progress.
    fileprivate var isShort: Bool {
        guard receiver == nil, monitor == nil else { return false }
        guard let body else { return true }
        return body.bytes.map { $0.count <= OutgoingBody.maximumSingleChunk } ?? false
    }
}

extension OutgoingBody {
    /// A body in memory that is larger than this is sent in chunks, so that its time limit can restart with each of
    /// them.
    static let maximumSingleChunk = 1 << 20
}
