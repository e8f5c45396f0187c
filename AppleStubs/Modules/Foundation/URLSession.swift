public import FoundationEssentials

// https://developer.apple.com/documentation/foundation/urlsession
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
open class URLSession: NSObject, @unchecked Sendable {
    public enum ResponseDisposition: Int, Sendable {
        case cancel = 0
        case allow
        case becomeDownload
        case becomeStream
    }

    public enum AuthChallengeDisposition: Int, Sendable {
        case useCredential = 0
        case performDefaultHandling
        case cancelAuthenticationChallenge
        case rejectProtectionSpace
    }

    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) { fatalError() }

    open class var shared: URLSession { fatalError() }
    open var delegateQueue: OperationQueue { fatalError() }
    open var configuration: URLSessionConfiguration { fatalError() }
    open func finishTasksAndInvalidate() { fatalError() }
    open func dataTask(with request: URLRequest) -> URLSessionDataTask { fatalError() }
    open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask { fatalError() }
    open func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask { fatalError() }
    open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask { fatalError() }
    open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { fatalError() }
    open func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask { fatalError() }
    open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) { fatalError() }
}

// https://developer.apple.com/documentation/foundation/urlsessiontask
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
open class URLSessionTask: NSObject, @unchecked Sendable {
    open var taskIdentifier: Int { fatalError() }
    open var originalRequest: URLRequest? { fatalError() }
    open var currentRequest: URLRequest? { fatalError() }
    open var response: URLResponse? { fatalError() }
    open var taskDescription: String?
    open var countOfBytesSent: Int64 { fatalError() }
    open func resume() { fatalError() }
    open func suspend() { fatalError() }
    open func cancel() { fatalError() }
}

// https://developer.apple.com/documentation/foundation/urlsessiondatatask
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

// https://developer.apple.com/documentation/foundation/urlsessionuploadtask
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}

// https://developer.apple.com/documentation/foundation/urlsessiondownloadtask
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}

// https://developer.apple.com/documentation/foundation/urlsessionconfiguration
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
open class URLSessionConfiguration: NSObject, @unchecked Sendable {
    // Not public: the use of Apple's initializer is deprecated.
    override init() { fatalError() }
    open class var ephemeral: URLSessionConfiguration { fatalError() }
    open class func background(withIdentifier identifier: String) -> URLSessionConfiguration { fatalError() }
    open var identifier: String? { fatalError() }
    open var isDiscretionary: Bool
    open var sessionSendsLaunchEvents: Bool
    open var sharedContainerIdentifier: String?
    open var requestCachePolicy = NSURLRequest.CachePolicy.useProtocolCachePolicy
    open var timeoutIntervalForRequest: TimeInterval
    open var timeoutIntervalForResource: TimeInterval
    open var waitsForConnectivity: Bool
    open var httpMaximumConnectionsPerHost: Int
    open var httpShouldSetCookies: Bool
    open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy
    open var httpCookieStorage: HTTPCookieStorage?
    open var urlCredentialStorage: URLCredentialStorage?
    open var urlCache: URLCache?
}

// https://developer.apple.com/documentation/foundation/httpcookie
@available(iOS 2, macOS 10.2, tvOS 9, watchOS 2, visionOS 1, *)
open class HTTPCookie: NSObject, @unchecked Sendable {
    public enum AcceptPolicy: UInt, Sendable {
        case always = 0
        case never
        case onlyFromMainDocumentDomain
    }
}

// https://developer.apple.com/documentation/foundation/httpcookiestorage
@available(iOS 2, macOS 10.2, tvOS 9, watchOS 2, visionOS 1, *)
open class HTTPCookieStorage: NSObject, @unchecked Sendable {}

// https://developer.apple.com/documentation/foundation/urlcredentialstorage
@available(iOS 2, macOS 10.2, tvOS 9, watchOS 2, visionOS 1, *)
open class URLCredentialStorage: NSObject, @unchecked Sendable {}

// https://developer.apple.com/documentation/foundation/urlcache
@available(iOS 2, macOS 10.2, tvOS 9, watchOS 2, visionOS 1, *)
open class URLCache: NSObject, @unchecked Sendable {}
