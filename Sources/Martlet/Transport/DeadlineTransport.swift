internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A transport that sends and receives bodies in memory by itself, within a time limit, and returns at once when its task
/// is cancelled, whatever the server does.
///
/// A client that uses the system's clock calls it in the task of the caller. Every other transport runs in a task of its
/// own, which the client can abandon. That costs two switches between tasks for each attempt.
protocol DeadlineTransport: Transport {
    /// The number of requests that it takes for each connection, beyond ``Transport/parallelRequests(to:)``. A
    /// connection that becomes free finds its next request there, without a switch to another task.
    var reservePerConnection: Int { get }

    /// Sends a request and returns its response with the whole body.
    /// - Parameters:
    ///   - maximumCount: The largest number of bytes of a response to keep.
    ///   - limit: The time limit for all of it.
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
