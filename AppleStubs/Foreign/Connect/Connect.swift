// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations of Connect for Swift 1 that the documentation uses, so that its Swift blocks compile without that package.
// Sources: Interceptors/Interceptor.swift, UnaryInterceptor.swift and StreamInterceptor.swift, HTTPRequest.swift,
// ResponseMessage.swift, Code.swift and ConnectError.swift in Libraries/Connect/Public/Interfaces.

public import Foundation

public typealias Headers = [String: [String]]
public typealias Trailers = Headers

public protocol ProtobufMessage: Sendable {}

public enum HTTPMethod: String, Sendable {
    case get = "GET"
    case post = "POST"
}

public enum IdempotencyLevel: Sendable {
    case unknown
    case noSideEffects
    case idempotent
}

public enum Code: Int, Sendable {
    case ok = 0
    case unknown = 2
    case unavailable = 14
    case unauthenticated = 16
}

public struct ConnectError: Error {
    public struct Detail: Sendable {}

    public let code: Code
    public let message: String?
    public let exception: (any Error)?
    public let details: [Detail]
    public let metadata: Headers

    public init(
        code: Code, message: String?, exception: (any Error)? = nil, details: [Detail] = [], metadata: Headers = [:]
    ) {
        (self.code, self.message, self.exception) = (code, message, exception)
        (self.details, self.metadata) = (details, metadata)
    }
}

public struct HTTPRequest<Input: Sendable>: Sendable {
    public let url: URL
    public let headers: Headers
    public let message: Input
    public let method: HTTPMethod
    public let trailers: Trailers?
    public let idempotencyLevel: IdempotencyLevel

    public init(
        url: URL, headers: Headers, message: Input, method: HTTPMethod, trailers: Trailers?,
        idempotencyLevel: IdempotencyLevel
    ) {
        (self.url, self.headers, self.message, self.method) = (url, headers, message, method)
        (self.trailers, self.idempotencyLevel) = (trailers, idempotencyLevel)
    }
}

public struct ResponseMessage<Output: ProtobufMessage>: Sendable {
    public let code: Code
    public let headers: Headers
    public let result: Result<Output, ConnectError>
    public let trailers: Trailers

    public init(
        code: Code = .ok, headers: Headers = [:], result: Result<Output, ConnectError>, trailers: Trailers = [:]
    ) {
        (self.code, self.headers, self.result, self.trailers) = (code, headers, result, trailers)
    }
}

public protocol Interceptor: AnyObject, Sendable {}

public protocol UnaryInterceptor: Interceptor {
    @Sendable func handleUnaryRawRequest(
        _ request: HTTPRequest<Data?>,
        proceed: @escaping @Sendable (Result<HTTPRequest<Data?>, ConnectError>) -> Void)
}

public protocol StreamInterceptor: Interceptor {
    @Sendable func handleStreamStart(
        _ request: HTTPRequest<Void>,
        proceed: @escaping @Sendable (Result<HTTPRequest<Void>, ConnectError>) -> Void)
}
