#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An endpoint of the app with additions of the client. Interceptors see the app's own.
protocol EndpointExtension: Endpoint {
    var base: any Endpoint { get }
}

/// Describes a call to its interceptors, and keeps the values that an interceptor stores for its later hooks.
public struct RequestContext: Sendable {
    /// The endpoint.
    public var endpoint: any Endpoint { (sentEndpoint as? any EndpointExtension)?.base ?? sentEndpoint }
    /// The number of the attempt, from 1; 0 in ``RequestInterceptor/prepare(_:for:)``.
    public internal(set) var attempt: Int
    /// The session and rotation of the attempt's token; `nil` if it has no token.
    public internal(set) var stamp: SessionStamp?
    /// The time since the start of the call, by the client's clock.
    public var elapsed: Duration { time.uptime - startedAt }
    /// The wall clock, for comparison with dates from the server.
    public var wallClock: Date { time.wallClock }
    /// The description of the call for errors. It is computed on demand: redacting the path is expensive, and most
    /// calls do not need it.
    public var call: CallDescription {
        var call = CallDescription(method: method, location: location, attempts: sent)
        call.awaitsHead = awaitsHead
        call.hasIdempotencyKey = self[IdempotencyKeys.Mark.self].map { $0.isSent && $0.isOfApp } ?? false
        return call
    }

    /// The endpoint, or its extension.
    let sentEndpoint: any Endpoint
    /// The end of the last attempt that received a part of a download which the next one need not receive again. Few
    /// calls have one, so it takes no space in the others.
    var progressedAt: Duration? {
        get { self[LastProgress.self]?.uptime }
        set { self[LastProgress.self] = newValue.map { LastProgress(uptime: $0) } }
    }

    private struct LastProgress: Sendable { let uptime: Duration }

    /// The time since the call last made progress that will be kept; since its start if there was none.
    var timeWithoutProgress: Duration { time.uptime - (progressedAt ?? startedAt) }

    /// Whether the call returns when the head of the response has arrived.
    var awaitsHead = false

    /// The number of attempts handed to the transport.
    var sent = 0
    let method: String
    private let location: Location
    let time: any TimeSource
    let startedAt: Duration
    var origin: Origin
    /// The body of the attempt under way; between attempts, that of the prepared request.
    var outgoing: PreparedBody?
    /// The number of times an interceptor has assigned ``body``.
    var bodyVersion = 0
    private var values: [ObjectIdentifier: any Sendable] = [:]

    init(
        endpoint: any Endpoint, method: String, location: Location, time: any TimeSource,
        since startedAt: Duration? = nil
    ) {
        self.sentEndpoint = endpoint
        self.attempt = 0
        self.time = time
        self.startedAt = startedAt ?? time.uptime
        self.method = method
        self.location = location
        self.origin = location.origin
    }

    /// A value that an interceptor keeps until the end of the call, at most one of each type.
    public subscript<Value: Sendable>(_ type: Value.Type) -> Value? {
        get { values[ObjectIdentifier(type)] as? Value }
        set { values[ObjectIdentifier(type)] = newValue }
    }
}
