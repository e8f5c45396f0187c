// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations of Apollo iOS 2 that the documentation uses, so that its Swift blocks compile without that package.
// Source: Sources/Apollo/RequestChain/Interceptors/HTTPInterceptor.swift.

public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

public struct HTTPResponse: Sendable, ~Copyable {
    public let response: HTTPURLResponse
}

public protocol HTTPInterceptor: Sendable {
    typealias NextHTTPInterceptorFunction = @Sendable (URLRequest) async throws -> HTTPResponse

    func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse
}
