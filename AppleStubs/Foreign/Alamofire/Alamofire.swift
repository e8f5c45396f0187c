// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations of Alamofire 5 that the documentation uses, so that its Swift blocks compile without that package.
// Sources: Source/Features/RequestInterceptor.swift and RedirectHandler.swift, Source/Core/Session.swift, Request.swift,
// DataRequest.swift and AFError.swift.

public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

open class Session: @unchecked Sendable {
    public convenience init(
        interceptor: (any RequestInterceptor)? = nil, redirectHandler: (any RedirectHandler)? = nil
    ) {
        self.init()
    }

    init() {}

    public func withAllRequests(perform action: @escaping @Sendable (Set<Request>) -> Void) {}
}

public class Request: @unchecked Sendable, Hashable {
    public let id = UUID()
    public var request: URLRequest? { nil }
    public var response: HTTPURLResponse? { nil }

    init() {}

    public static func == (left: Request, right: Request) -> Bool { left.id == right.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

public class DataRequest: Request, @unchecked Sendable {
    public var data: Data? { nil }
}

public struct RequestAdapterState: Sendable {
    public let requestID: UUID
    public let session: Session
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
    func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void)
}

public protocol RequestRetrier: Sendable {
    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void)
}

public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {}
}

public protocol RedirectHandler: Sendable {
    func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void)
}

public enum AFError: Error {
    case requestAdaptationFailed(error: any Error)
    case requestRetryFailed(retryError: any Error, originalError: any Error)

    public var underlyingError: (any Error)? {
        switch self {
        case .requestAdaptationFailed(let error), .requestRetryFailed(let error, _): error
        }
    }
}

extension Error {
    public var asAFError: AFError? { self as? AFError }
}
