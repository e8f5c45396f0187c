public import FoundationEssentials

// https://developer.apple.com/documentation/foundation/nsurlrequest
@available(iOS 2, macOS 10.2, tvOS 9, watchOS 2, visionOS 1, *)
open class NSURLRequest: NSObject, @unchecked Sendable {
    public enum CachePolicy: UInt, Sendable {
        case useProtocolCachePolicy = 0
        case reloadIgnoringLocalCacheData = 1
        case returnCacheDataElseLoad = 2
        case returnCacheDataDontLoad = 3
        case reloadIgnoringLocalAndRemoteCacheData = 4
        case reloadRevalidatingCacheData = 5
    }
}

// https://developer.apple.com/documentation/foundation/urlrequest
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
public struct URLRequest: Hashable, Sendable {
    public typealias CachePolicy = NSURLRequest.CachePolicy

    public init(
        url: URL, cachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0
    ) { fatalError() }

    public var url: URL?
    public var httpMethod: String?
    public var httpShouldHandleCookies: Bool
    public var allHTTPHeaderFields: [String: String]?
    public func value(forHTTPHeaderField field: String) -> String? { fatalError() }
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) { fatalError() }
}

// https://developer.apple.com/documentation/foundation/urlresponse
@available(iOS 2, macOS 10.2, tvOS 9, watchOS 2, visionOS 1, *)
open class URLResponse: NSObject, @unchecked Sendable {
    open var url: URL? { fatalError() }
}

// https://developer.apple.com/documentation/foundation/httpurlresponse
@available(iOS 2, macOS 10.2, tvOS 9, watchOS 2, visionOS 1, *)
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    // https://developer.apple.com/documentation/foundation/httpurlresponse/init(url:statuscode:httpversion:headerfields:)
    @available(iOS 5, macOS 10.7, tvOS 9, watchOS 2, visionOS 1, *)
    public init?(url: URL, statusCode: Int, httpVersion HTTPVersion: String?, headerFields: [String: String]?) { fatalError() }

    open var statusCode: Int { fatalError() }
    open var allHeaderFields: [AnyHashable: Any] { fatalError() }
}
