internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A transport that itself enforces the time limit of an exchange of bodies in memory. It also returns at once when its
/// task is cancelled, whatever the server does.
///
/// A client that uses the system's clock calls it in the task of the caller. Any other exchange runs in a separate
/// task, which the client can abandon: one over another transport, with a streamed or large body, or with a monitor.
/// That costs two task switches for each attempt.
protocol DeadlineTransport: Transport {
    /// The number of requests that the transport accepts for each connection beyond
    /// ``Transport/parallelRequests(to:)``. A connection that becomes free takes the next one without a task switch.
    var reservePerConnection: Int { get }

    /// Sends a request and returns its response with the whole body.
    /// - Parameters:
    ///   - maximumCount: The largest number of bytes of a response to keep.
    ///   - limit: The time limit for the whole exchange.
    /// - Throws: ``DeadlineError`` if the response has not arrived within the limit, ``TransportError``, or
    ///   `CancellationError`.
    func exchange(
        _ request: HTTPRequest, body: Data?, upTo maximumCount: Int, within limit: Duration
    ) async throws -> TransportResponse
}

extension DeadlineTransport {
    var reservePerConnection: Int { 0 }
}

/// A response has not arrived within the time limit of the request.
struct DeadlineError: Error {}
