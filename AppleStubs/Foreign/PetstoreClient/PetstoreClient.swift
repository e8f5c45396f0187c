// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations of a client of OpenAPI Generator (swift6, library urlsession) that the documentation uses, so that its
// Swift blocks compile without such a client. Source: APIs.swift and URLSessionImplementations.swift in
// Sources/PetstoreClient/Infrastructure of a client that version 7.26.0 has written.

public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

public protocol URLSessionProtocol: Sendable {}
extension URLSession: URLSessionProtocol {}

open class RequestBuilder<T: Sendable>: @unchecked Sendable {
    public init() {}
}

public enum OpenAPIInterceptorRetry {
    case retry
    case dontRetry
}

public protocol OpenAPIInterceptor: Sendable {
    func intercept<T>(
        urlRequest: URLRequest, urlSession: any URLSessionProtocol, requestBuilder: RequestBuilder<T>,
        completion: @Sendable @escaping (Result<URLRequest, any Error>) -> Void)

    func retry<T>(
        urlRequest: URLRequest, urlSession: any URLSessionProtocol, requestBuilder: RequestBuilder<T>, data: Data?,
        response: URLResponse?, error: any Error, completion: @Sendable @escaping (OpenAPIInterceptorRetry) -> Void)
}
