import Foundation
import HTTPTypes

@testable import Martlet

/// An interceptor whose hooks are closures.
struct ClosureInterceptor: RequestInterceptor {
    typealias Change = @Sendable (inout HTTPRequest, inout RequestContext) async throws -> Void

    var onPrepare: Change = { _, _ in }
    var onAdapt: Change = { _, _ in }
    var onRespond: @Sendable (HTTPRequest, inout RequestContext) async throws -> ServerResponse? = { _, _ in nil }
    var onValidate: @Sendable (ServerResponse, inout RequestContext) async throws -> Void = { _, _ in }
    var onRetry: @Sendable (HTTPRequest, inout RequestContext, NetworkError) async -> RetryDecision = { _, _, _ in
        .noOpinion
    }
    var onProcess: @Sendable (ServerResponse, inout RequestContext) async throws -> ServerResponse = { response, _ in
        response
    }

    func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        try await onPrepare(&request, &context)
    }

    func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        try await onAdapt(&request, &context)
    }

    func respond(to request: HTTPRequest, for context: inout RequestContext) async throws -> ServerResponse? {
        try await onRespond(request, &context)
    }

    func validate(_ response: ServerResponse, for context: inout RequestContext) async throws {
        try await onValidate(response, &context)
    }

    func retry(
        _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
    ) async -> RetryDecision {
        await onRetry(request, &context, error)
    }

    func process(_ response: ServerResponse, for context: inout RequestContext) async throws -> ServerResponse {
        try await onProcess(response, &context)
    }
}

extension RequestContext {
    /// Appends text to the body in memory.
    mutating func appendToBody(_ text: String) {
        body = Body((body?.bytes ?? Data()) + Data(text.utf8))
    }
}

extension ServerResponse {
    init(status: Int, _ text: String = "", headers: HTTPFields = [:]) {
        self.init(head: HTTPResponse(status: .init(code: status), headerFields: headers), body: Data(text.utf8))
    }
}

/// A POST of text to any path.
struct Post: APIEndpoint {
    let path: RequestPath
    let method = HTTPRequest.Method.post
    let body: RequestBody?
    let authentication: AuthenticationRequirement

    init(
        _ path: String, _ body: RequestBody? = .text("x"), _ authentication: AuthenticationRequirement = .none
    ) {
        self.path = RequestPath(setting: path)
        self.body = body
        self.authentication = authentication
    }
}
