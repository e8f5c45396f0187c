/// A request or call for which the test set up no response.
///
/// The call throws it inside `NetworkError.transport`, whose description includes it:
///
/// ```
/// POST https://api.example.com/articles: the transport failed: no response is set up for POST /articles. Responses are
/// set up for: GET /articles, GET /me. Add one with when(…).respond(…).
/// ```
public struct UnexpectedRequestError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The method, path and query of the request.
    public let request: String
    /// The requests for which the test set up responses.
    public let expected: [String]
    /// Names the request and the requests for which there are responses.
    public let description: String

    init(_ request: String, expected: [String]) {
        self.request = request
        self.expected = expected
        let known = expected.joined(separator: ", ")
        let responses = expected.isEmpty ? "" : " Responses are set up for: \(known)."
        description = "no response is set up for \(request).\(responses) Add one with when(…).respond(…)."
    }

    init(_ request: String, route: String, reason: String) {
        self.request = request
        self.expected = [route]
        description = "the route \"\(route)\" cannot respond to \(request): \(reason)."
    }
}
