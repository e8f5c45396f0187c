internal import Foundation
internal import Martlet

/// A browser without pages that follows the server's redirects to the client. It works only with a server that asks the
/// user nothing.
struct RedirectFollower: Sendable {
    /// The error for a response that is not a redirect.
    struct NoRedirectError: Error, Hashable {
        let status: Int
    }

    let transport: any Transport

    static let maximumRedirects = 10

    /// Opens a page of the server.
    /// - Parameter redirect: The prefix of the client's URL, which is not opened.
    /// - Returns: The URL of the last redirect.
    func visit(_ page: URL, until redirect: String) async throws -> URL {
        var url = page
        for _ in 0..<Self.maximumRedirects {
            let response = try await get(url)
            guard let location = response.headerFields[.location],
                let next = URL(string: location, relativeTo: url)?.absoluteURL
            else { throw NoRedirectError(status: response.status.code) }
            if next.absoluteString.hasPrefix(redirect) { return next }
            url = next
        }
        throw NoRedirectError(status: 302)
    }

    private func get(_ url: URL) async throws -> HTTPResponse {
        let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        let path = parts?.percentEncodedPath ?? ""
        let query = parts?.percentEncodedQuery.map { "?" + $0 } ?? ""
        let authority = (parts?.encodedHost ?? "") + (parts?.port.map { ":\($0)" } ?? "")
        let request = HTTPRequest(
            method: .get, scheme: parts?.scheme, authority: authority, path: (path.isEmpty ? "/" : path) + query)
        let response = try await transport.send(request, body: nil)
        _ = try await response.body.collect(upTo: 1 << 20)
        return response.head
    }
}
