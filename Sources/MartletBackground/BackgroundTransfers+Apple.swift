#if canImport(Darwin)
    internal import Foundation
    internal import HTTPTypes
    public import Martlet

    extension BackgroundTransfers {
        /// Transfers of a background `URLSession`.
        ///
        /// Creating them also delivers the events of the transfers that ended while the app was not running. The object
        /// is kept until the process ends.
        /// - Parameters:
        ///   - identifier: Identifies the session. Use the same identifier at each launch, and another one in each
        ///     extension: only one process may use a session at a time.
        ///   - client: Provides the base URL, headers and tokens of the requests.
        ///   - options: The options for the transfers.
        /// - Throws: ``BackgroundTransferError/identifierInUse(_:)``.
        public convenience init(
            identifier: String, client: NetworkClient,
            options: BackgroundTransferOptions = BackgroundTransferOptions()
        ) throws(BackgroundTransferError) {
            let group = options.sharedContainerIdentifier.flatMap {
                FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: $0)?.path
            }
            try self.init(identifier: identifier, client: client, options: options, group: group) { transfers in
                BackgroundURLSession.start(for: transfers, identifier, options)
            }
        }
    }

    /// The delegate of a background session. The session retains the delegate, and the delegate retains the transfers,
    /// because an event without a handler would be lost.
    ///
    /// It has no method for authentication challenges, neither of the session nor of a task. With such a method, the
    /// system launches the app for each challenge, including the certificate of an HTTPS server, and the transfer waits
    /// for the app. Without one, the system checks certificates itself, and a 401 ends the task: the session has no
    /// credentials to try.
    private final class BackgroundURLSession: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
        private let transfers: BackgroundTransfers
        /// The bodies of the responses to uploads, as far as they have arrived.
        private let bodies = Locked<[Int: Data]>([:])

        private init(_ transfers: BackgroundTransfers) {
            self.transfers = transfers
        }

        static func start(
            for transfers: BackgroundTransfers, _ identifier: String, _ options: BackgroundTransferOptions
        ) -> BackgroundSession {
            let configuration = configuration(identifier, options)
            let session = URLSession(
                configuration: configuration, delegate: BackgroundURLSession(transfers), delegateQueue: nil)
            return BackgroundSession(
                tasks: {
                    await withCheckedContinuation { continuation in
                        session.getAllTasks { tasks in continuation.resume(returning: tasks.map(BackgroundTask.init)) }
                    }
                },
                makeTask: { plan in
                    let request = try URLRequest(plan.request)
                    let task: URLSessionTask =
                        switch plan.work {
                        case .upload(let path):
                            session.uploadTask(with: request, fromFile: URL(fileURLWithPath: path))
                        case .download: session.downloadTask(with: request)
                        case .resumption(let data): session.downloadTask(withResumeData: data)
                        }
                    task.taskDescription = plan.name.description
                    return BackgroundTask(task)
                })
        }

        private static func configuration(
            _ identifier: String, _ options: BackgroundTransferOptions
        ) -> URLSessionConfiguration {
            let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
            configuration.isDiscretionary = options.isDiscretionary
            configuration.sessionSendsLaunchEvents = options.sendsLaunchEvents
            configuration.sharedContainerIdentifier = options.sharedContainerIdentifier
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.httpCookieAcceptPolicy = .never
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            return configuration
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            guard let end = end(of: downloadTask, nil) else { return }
            transfers.systemDidDownload(end, to: location.path)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            bodies.withLock { bodies in
                // One byte too many shows that the response is too large.
                let room = TransferFolder.largestResponse + 1 - (bodies[dataTask.taskIdentifier]?.count ?? 0)
                bodies[dataTask.taskIdentifier, default: Data()].append(data.prefix(max(room, 0)))
            }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let body = bodies.withLock { $0.removeValue(forKey: task.taskIdentifier) }
            guard let end = end(of: task, error, body) else { return }
            transfers.systemDidEnd(end)
        }

        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            transfers.systemDidDeliverEvents()
        }

        /// - Returns: `nil` for a task that does not belong to Martlet.
        private func end(
            of task: URLSessionTask, _ error: (any Error)?, _ body: Data? = nil
        ) -> BackgroundTask.End? {
            guard let name = BackgroundTask.Name(task.taskDescription) else { return nil }
            let result: BackgroundTask.End.Result
            if let error = error as? URLError {
                result = .init(
                    code: error.code.rawValue, isCancelledBySystem: error.backgroundTaskCancelledReason != nil,
                    resumeData: error.downloadTaskResumeData)
            } else if let error {
                result = .failure("\(type(of: error))")
            } else if let response = task.response as? HTTPURLResponse {
                result = .response(HTTPResponse(response), body: body)
            } else {
                result = .failure("there was no response")
            }
            let first = task.originalRequest?.url.flatMap { Origin($0.absoluteString) }
            let last = task.response?.url.flatMap { Origin($0.absoluteString) }
            let methods = (task.originalRequest?.httpMethod, task.currentRequest?.httpMethod)
            return BackgroundTask.End(
                name: name, result: result, leftOrigin: last != nil && first != last,
                hasOtherMethod: methods.0 != nil && methods.1 != nil && methods.0 != methods.1)
        }
    }

    extension BackgroundTask {
        fileprivate init(_ task: URLSessionTask) {
            self.init(name: Name(task.taskDescription), resume: { task.resume() }, cancel: { task.cancel() })
        }
    }
#endif
