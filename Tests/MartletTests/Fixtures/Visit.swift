import Foundation
import HTTPTypes

@testable import Martlet

/// A call of the tests of caches and cookies.
struct Visit: APIEndpoint {
    var path: RequestPath
    var method: HTTPRequest.Method
    var headers: HTTPFields
    var authentication: AuthenticationRequirement
    var acceptableStatuses: StatusCodes = .successful

    init(
        _ path: String, _ method: HTTPRequest.Method = .get, headers: HTTPFields = [:],
        _ authentication: AuthenticationRequirement = .ifSignedIn
    ) {
        self.path = RequestPath(setting: path)
        self.method = method
        self.headers = headers
        self.authentication = authentication
    }
}

extension NetworkClient {
    /// The body of a response as text.
    func text(_ visit: Visit) async throws -> String {
        String(decoding: try await data(for: visit).value, as: UTF8.self)
    }
}
