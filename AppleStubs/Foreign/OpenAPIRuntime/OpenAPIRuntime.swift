// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations of swift-openapi-runtime 1 that the documentation uses, so that its Swift blocks compile without that
// package. Sources: Sources/OpenAPIRuntime/Interface/ClientTransport.swift and HTTPBody.swift.

public import Foundation
public import Martlet

public enum IterationBehavior: Sendable {
    case single
    case multiple
}

public final class HTTPBody: Sendable {
    public let iterationBehavior: IterationBehavior = .multiple

    public convenience init(_ data: Data) { self.init() }
}

extension Data {
    public init(collecting body: HTTPBody, upTo maxBytes: Int) async throws { self.init() }
}

public protocol ClientTransport: Sendable {
    func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?)
}

public protocol ClientMiddleware: Sendable {
    func intercept(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String,
        next: @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
    ) async throws -> (HTTPResponse, HTTPBody?)
}
