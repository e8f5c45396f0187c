#if !os(Linux) || URLSession || !AsyncHTTPClient
    internal import Foundation
    internal import HTTPTypes

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    /// The delegate of a session, which finds the exchange of each task.
    final class URLSessionExchanges: NSObject, URLSessionDataDelegate {
        /// Decides on certificates; `nil` if the system does.
        let trust: URLSessionTrust?
        private let exchanges = Locked<[Int: URLSessionExchange]>([:])

        init(_ trust: URLSessionTrust?) {
            self.trust = trust
        }

        func add(_ exchange: URLSessionExchange, for task: URLSessionTask) {
            exchanges.withLock { $0[task.taskIdentifier] = exchange }
        }

        func exchange(for task: URLSessionTask) -> URLSessionExchange? {
            exchanges.withLock { $0[task.taskIdentifier] }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            let isWanted = exchange(for: dataTask)?.receive(response) ?? false
            // A finished exchange cancels its task itself; on Linux this value is ignored anyway.
            completionHandler(isWanted ? .allow : .cancel)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            exchange(for: dataTask)?.receive(data)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            exchange(for: task)?.redirect()
            completionHandler(nil)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            if challenge.protectionSpace.isOfServerResponse {
                if URLSessionUpload.challengeEndsResponse { exchange(for: task)?.finish() }
                return completionHandler(.rejectProtectionSpace, nil)
            }
            // Without settings, the system handles server certificates, client certificates and proxies.
            guard let trust else { return completionHandler(.performDefaultHandling, nil) }
            trust.respond(to: challenge, for: exchange(for: task), completionHandler)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            completionHandler(exchange(for: task)?.bodyStream())
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
            exchange?.complete(task.response, error)
        }
    }

    extension URLSessionExchange {
        /// The stream of the body; `nil` if the session asks again for a single-use stream.
        fileprivate func bodyStream() -> InputStream? {
            guard let upload = state.withLock({ $0.upload }) else { return nil }
            if let stream = upload.takeStream() { return stream }
            fail(TransportError.connectionLost("the session had to send the body again, but it can be read only once"))
            return nil
        }
    }
#endif
