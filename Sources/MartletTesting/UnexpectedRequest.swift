/// A test made a request that nobody had said an answer for.
///
/// It reaches the test within `NetworkError.transport`, whose description quotes it:
///
/// ```
/// POST https://api.example.com/articles: the transport failed: nobody has said what the answer to POST /articles is.
/// There are answers to: GET /articles, GET /me.
/// ```
public struct UnexpectedRequest: Error, Sendable, Hashable, CustomStringConvertible {
    /// Method, path and query of the request.
    public let request: String
    /// What there are answers to.
    public let expected: [String]
    /// One sentence or two that name the request and what there are answers to.
    public let description: String

    init(_ request: String, expected: [String]) {
        self.request = request
        self.expected = expected
        let known = expected.joined(separator: ", ")
        let answers = expected.isEmpty ? "There are no answers yet." : "There are answers to: \(known)."
        description = "nobody has said what the answer to \(request) is. \(answers)"
    }

    init(_ request: String, matching route: String, lacks what: String) {
        self.request = request
        self.expected = [route]
        description = "the answer to \(request) was to come from \"\(route)\", which has \(what)."
    }
}
