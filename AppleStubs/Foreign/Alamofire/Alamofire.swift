// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations of Alamofire 5 that the documentation uses, so that its Swift blocks compile without that package.
// Sources: Source/Features/RequestInterceptor.swift, Source/Core/Session.swift and Request.swift.

public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

public final class Session: Sendable {
    init() {}
}

public final class Request: Sendable {
    public var retryCount: Int { 0 }
    public var request: URLRequest? { nil }
    public var response: HTTPURLResponse? { nil }

    init() {}
}

public enum RetryResult: Sendable {
    case retry
    case retryWithDelay(TimeInterval)
    case doNotRetry
    case doNotRetryWithError(any Error)
}

public protocol RequestAdapter: Sendable {
    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void)
}

public protocol RequestRetrier: Sendable {
    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void)
}

public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}
