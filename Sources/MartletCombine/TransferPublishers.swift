#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        public import Combine
    #else
        public import OpenCombine
    #endif
    public import Martlet

    #if canImport(FoundationEssentials)
        public import FoundationEssentials
    #else
        public import Foundation
    #endif

    /// An event of a publisher of an upload or a download: its progress, and finally its result.
    ///
    /// ```swift
    /// switch update {
    /// case .progress(.sent(let count)): bar.value = count.fraction ?? 0
    /// case .progress: break
    /// case .finished(let user): show(user)
    /// }
    /// ```
    public enum TransferUpdate<Value: Sendable>: Sendable {
        /// Progress, as a `TransferMonitor` reports it.
        case progress(TransferEvent)
        /// The result. It is the last value.
        case finished(Value)
    }

    extension TransferUpdate: Equatable where Value: Equatable {}
    extension TransferUpdate: Hashable where Value: Hashable {}

    extension APIClient {
        /// Sends an endpoint once for each subscriber, and publishes the progress of its body and then its response.
        ///
        /// ```swift
        /// client.uploadPublisher(for: PictureEndpoint.add(picture), as: Picture.self)
        ///     .receive(on: DispatchQueue.main)
        ///     .sink { completion in … } receiveValue: { update in … }
        ///     .store(in: &subscriptions)
        /// ```
        ///
        /// A subscriber with too little demand misses intermediate counts, but receives every attempt and the newest
        /// count. The response is the last value. A failure is delivered at once, without pending progress. As with
        /// `publisher(for:as:)`, nothing is sent before a subscription, and cancelling the subscription cancels the
        /// call.
        /// - Parameters:
        ///   - endpoint: The endpoint to send.
        ///   - type: The type to decode.
        ///   - interval: The shortest time between two counts; not below zero. The first and the last count are
        ///     reported at once.
        /// - Returns: Any number of ``TransferUpdate/progress(_:)`` and one ``TransferUpdate/finished(_:)``, or a
        ///   `NetworkError` that names the endpoint.
        public func uploadPublisher<Value: Decodable & Sendable>(
            for endpoint: some APIEndpoint, as type: Value.Type = Value.self, interval: Duration = .milliseconds(100)
        ) -> AnyPublisher<TransferUpdate<Value>, NetworkError> {
            transfer(interval) { monitor throws(NetworkError) in
                try await send(endpoint, as: type, monitor: monitor)
            }
        }

        /// Sends an endpoint once for each subscriber, publishes the progress of its body, and ignores the body of the
        /// response. See `uploadPublisher(for:as:interval:)`.
        public func uploadPublisher(
            for endpoint: some APIEndpoint, interval: Duration = .milliseconds(100)
        ) -> AnyPublisher<TransferUpdate<Void>, NetworkError> {
            transfer(interval) { monitor throws(NetworkError) in try await send(endpoint, monitor: monitor) }
        }

        /// Sends a request once for each subscriber, and publishes the progress of its body and then its
        /// `APIRequest.Response`. See `uploadPublisher(for:as:interval:)`.
        public func uploadPublisher<Request: APIRequest>(
            for request: Request, interval: Duration = .milliseconds(100)
        ) -> AnyPublisher<TransferUpdate<Request.Response>, NetworkError> {
            transfer(interval) { monitor throws(NetworkError) in try await send(request, monitor: monitor) }
        }

        /// Sends an endpoint once for each subscriber, and publishes the progress of its body and then its decoded
        /// response with the head, and with the `code`, `message` and `meta` of its envelope. See
        /// `uploadPublisher(for:as:interval:)`.
        public func uploadResponsePublisher<Value: Decodable & Sendable>(
            for endpoint: some APIEndpoint, as type: Value.Type = Value.self, interval: Duration = .milliseconds(100)
        ) -> AnyPublisher<TransferUpdate<NetworkResponse<Value>>, NetworkError> {
            transfer(interval) { monitor throws(NetworkError) in
                try await response(for: endpoint, as: type, monitor: monitor)
            }
        }

        /// Sends a request once for each subscriber, and publishes the progress of its body and then its decoded
        /// `APIRequest.Response` with the head, and with the `code`, `message` and `meta` of its envelope. See
        /// `uploadPublisher(for:as:interval:)`.
        public func uploadResponsePublisher<Request: APIRequest>(
            for request: Request, interval: Duration = .milliseconds(100)
        ) -> AnyPublisher<TransferUpdate<NetworkResponse<Request.Response>>, NetworkError> {
            transfer(interval) { monitor throws(NetworkError) in try await response(for: request, monitor: monitor) }
        }
    }

    extension NetworkClient {
        /// Downloads the response of an endpoint to a file once for each subscriber, and publishes the progress.
        ///
        /// See `download(_:to:options:monitor:)` for the download, and
        /// `APIClient.uploadPublisher(for:as:interval:)` for the values. Cancelling the subscription cancels the
        /// download.
        /// - Parameters:
        ///   - endpoint: The endpoint to download.
        ///   - path: The path of the new file. Its folder must exist.
        ///   - options: The options for storing and checking the file.
        ///   - interval: The shortest time between two counts; not below zero. The first and the last count are
        ///     reported at once.
        /// - Returns: Any number of ``TransferUpdate/progress(_:)`` and one ``TransferUpdate/finished(_:)``, or a
        ///   `NetworkError`; `NetworkError.downloadFailed(_:_:)` if the file cannot be written or fails its check.
        public func downloadPublisher(
            for endpoint: any Endpoint, to path: String, options: DownloadOptions = DownloadOptions(),
            interval: Duration = .milliseconds(100)
        ) -> AnyPublisher<TransferUpdate<NetworkResponse<DownloadedFile>>, NetworkError> {
            transfer(interval) { monitor throws(NetworkError) in
                try await self.download(endpoint, to: path, options: options, monitor: monitor)
            }
        }

        /// Downloads the response of an endpoint to a file once for each subscriber, and publishes the progress. See
        /// `downloadPublisher(for:to:options:interval:)`.
        public func downloadPublisher(
            for endpoint: any Endpoint, to url: URL, options: DownloadOptions = DownloadOptions(),
            interval: Duration = .milliseconds(100)
        ) -> AnyPublisher<TransferUpdate<NetworkResponse<DownloadedFile>>, NetworkError> {
            transfer(interval) { monitor throws(NetworkError) in
                try await self.download(endpoint, to: url, options: options, monitor: monitor)
            }
        }
    }

    private func transfer<Value: Sendable>(
        _ interval: Duration, _ call: @escaping @Sendable (TransferMonitor) async throws(NetworkError) -> Value
    ) -> AnyPublisher<TransferUpdate<Value>, NetworkError> {
        TaskPublisher<TransferUpdate<Value>, NetworkError> { subscription throws(NetworkError) in
            let monitor = TransferMonitor(interval: interval)
            let events = monitor.events
            // If the call fails, this is cancelled and awaited before the failure is delivered.
            async let progress: Void = subscription.send(events) { .progress($0) }
            let value = try await call(monitor)
            // A client that ignores the monitor does not finish it either.
            monitor.finish()
            await progress
            await subscription.send(.finished(value))
        }
        .eraseToAnyPublisher()
    }
#endif
