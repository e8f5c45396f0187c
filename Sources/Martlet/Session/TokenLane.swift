public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The way to the token endpoint: outside interceptors, concurrency limits and retries, with its own timeout.
///
/// A refresher gets one to talk to its server with. It follows no redirect, so that a refresh token never travels to a
/// place that it was not meant for.
public struct TokenLane: Sendable {
    let baseURL: BaseURL
    let transport: any Transport
    let time: any TimeSource
    let allowsInsecureHTTP: Bool
    let headers: HTTPFields

    /// The most that an answer with tokens may have; more is not one.
    private static let answerLimit = 1 << 20

    /// Sends a request and reads its whole answer, whatever its status.
    /// - Parameters:
    ///   - method: The method.
    ///   - path: A path below the base URL, or an absolute URL.
    ///   - headers: Header fields.
    ///   - body: The body, if any; set its `Content-Type` in `headers`.
    /// - Throws: ``RefreshFailure`` where there is no answer, ``RequestProblem`` where the URL is no good.
    public func send(
        _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:], body: Data? = nil
    ) async throws -> ServerAnswer {
        let location = try baseURL.location.get().appending(path: path, query: [])
        guard allowsInsecureHTTP || !location.origin.isInsecure else {
            throw RequestProblem("\(location.origin) is plain http, so no token is sent there. Use https.")
        }
        var request = HTTPRequest(
            method: method, scheme: location.origin.scheme, authority: location.authority, path: location.target,
            headerFields: self.headers)
        for field in headers { request.headerFields[field.name] = nil }
        for field in headers { request.headerFields.append(field) }
        if request.headerFields[.accept] == nil { request.headerFields[.accept] = "application/json" }
        do {
            let response = try await transport.send(request, body: body.map { OutgoingBody($0) })
            return ServerAnswer(head: response.head, body: try await response.body.collect(upTo: Self.answerLimit))
        } catch let error as TransportError {
            throw RefreshFailure(error)
        } catch let error as ByteStream.TooLarge {
            throw RefreshFailure(.unreadableAnswer, description: "the answer is larger than \(error.limit) bytes")
        }
    }

    /// Now, by this device's wall clock.
    public var now: Date { time.wallClock }
}

extension RefreshFailure {
    init(_ error: TransportError) {
        switch error {
        case .offline: self.init(.offline, description: "this device is offline")
        case .timedOut: self.init(.timedOut, description: "the token endpoint did not answer in time")
        case .cannotConnect(let why), .tlsFailed(let why):
            self.init(
                .connection, description: "the token endpoint was not reached (\(why))", mayHaveSpentToken: false)
        case .connectionLost(let why):
            self.init(.connection, description: "the connection to the token endpoint broke (\(why))")
        case .invalidResponse(let why):
            self.init(.unreadableAnswer, description: "the token endpoint's answer is not HTTP (\(why))")
        case .invalidRequest(let why):
            self.init(
                .refresher, description: "the refresh could not be sent (\(why))", mayHaveSpentToken: false)
        case .bodyFailed(let error):
            self.init(.refresher, description: "the refresh could not be sent (\(Redaction.redact("\(error)")))")
        }
    }
}
