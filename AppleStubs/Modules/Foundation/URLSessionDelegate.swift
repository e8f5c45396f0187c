public import FoundationEssentials
public import ObjectiveC

// Apple declares these methods as optional, so a misspelled one is never called and may cause no diagnostic. They are
// required here, so that the compiler reports it.

// https://developer.apple.com/documentation/foundation/urlsessiondelegate
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

// https://developer.apple.com/documentation/foundation/urlsessiontaskdelegate
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    )
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    )
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    )
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    )
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

// https://developer.apple.com/documentation/foundation/urlsessiondatadelegate
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    )
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

// https://developer.apple.com/documentation/foundation/urlsessiondownloaddelegate
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    )
}

// https://developer.apple.com/documentation/foundation/urlsessiontaskdelegate
// The delegate of a session in the background does not need these methods.
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
extension URLSessionDataDelegate where Self: URLSessionDownloadDelegate {
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {}
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {}
    public func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {}
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {}
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {}
}

// https://developer.apple.com/documentation/foundation/urlsessiondelegate
// Only a session in the background calls this method. A misspelled one is reported as a near miss.
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
extension URLSessionDataDelegate {
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}
}
