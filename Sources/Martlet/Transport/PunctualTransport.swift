package import HTTPTypes

/// A transport that keeps time limits by itself, and returns at once when its task is cancelled, whatever the server does.
///
/// A client that uses the system's clock calls it in the task of the caller. Every other transport runs in a task of its
/// own, which the client can abandon. That costs two switches between tasks for each attempt.
package protocol PunctualTransport: Transport {
    /// How many requests it takes beyond ``Transport/parallelRequests(to:)`` for each connection. A connection that becomes
    /// free finds its next request there, without a switch to another task.
    var reservePerConnection: Int { get }

    /// Like ``Transport/send(_:body:)``, with a time limit for the head of the response.
    /// - Throws: ``DeadlineError`` if the head has not arrived within the limit.
    func send(
        _ request: HTTPRequest, body: OutgoingBody?, within limit: Duration
    ) async throws -> (head: HTTPResponse, body: ByteStream)
}

extension PunctualTransport {
    package var reservePerConnection: Int { 0 }
}

/// The head of a response has not arrived within the time limit of the request.
package struct DeadlineError: Error {
    package init() {}
}
