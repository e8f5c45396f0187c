#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        public import Combine
    #else
        public import OpenCombine
    #endif

    #if canImport(FoundationEssentials)
        public import FoundationEssentials
    #else
        public import Foundation
    #endif

    /// What a publisher of an upload or a download has to tell: how far it has got, and at last what came of it.
    ///
    /// ```swift
    /// switch update {
    /// case .progress(.sent(let count)): bar.value = count.fraction ?? 0
    /// case .progress: break
    /// case .finished(let user): show(user)
    /// }
    /// ```
    public enum TransferUpdate<Value: Sendable>: Sendable {
        /// How far it has got, as a ``TransferMonitor`` tells it.
        case progress(TransferEvent)
        /// The answer. Nothing comes after it.
        case finished(Value)
    }

    extension TransferUpdate: Equatable where Value: Equatable {}
    extension TransferUpdate: Hashable where Value: Hashable {}

    extension APIClient {
        /// Sends an endpoint whose response the caller names, once for each subscriber, and tells how much of its body has gone
        /// out.
        ///
        /// ```swift
        /// client.uploadPublisher(for: PictureEndpoint.add(picture), as: Picture.self)
        ///     .receive(on: DispatchQueue.main)
        ///     .sink { completion in … } receiveValue: { update in … }
        ///     .store(in: &subscriptions)
        /// ```
        ///
        /// A subscriber that asks for less than there is misses counts between, and no attempt: when it asks again, the newest
        /// count is what it gets. So little waits for it, however long it takes. The answer comes last; a failure comes at
        /// once, and what was still to be told of the progress is left out. All else is as
        /// ``publisher(for:as:)`` has it: nothing is sent before somebody subscribes, and cancelling the subscription cancels the
        /// call.
        /// - Parameters:
        ///   - endpoint: What to send.
        ///   - type: What to decode.
        ///   - interval: How much time lies between two counts at least, not below zero; the first and the last are told at once.
        /// - Returns: Any number of ``TransferUpdate/progress(_:)`` and one ``TransferUpdate/finished(_:)``, or a
        ///   ``NetworkError`` that names the endpoint.
        public func uploadPublisher<Value: Decodable & Sendable>(
            for endpoint: some APIEndpoint, as type: Value.Type = Value.self, interval: Duration = .milliseconds(100)
        ) -> AnyPublisher<TransferUpdate<Value>, NetworkError> {
            transfer(interval) { monitor throws(NetworkError) in
                try await send(endpoint, as: type, monitor: monitor)
            }
        }

        /// Sends an endpoint whose response has nothing to tell, once for each subscriber, and tells how much of its body has
        /// gone out. See ``uploadPublisher(for:as:interval:)``.
        public func uploadPublisher(
            for endpoint: some APIEndpoint, interval: Duration = .milliseconds(100)
        ) -> AnyPublisher<TransferUpdate<Void>, NetworkError> {
            transfer(interval) { monitor throws(NetworkError) in try await send(endpoint, monitor: monitor) }
        }

        /// Sends a request with a response bound to it, once for each subscriber, and tells how much of its body has gone out.
        /// See ``uploadPublisher(for:as:interval:)``.
        public func uploadPublisher<Request: APIRequest>(
            for request: Request, interval: Duration = .milliseconds(100)
        ) -> AnyPublisher<TransferUpdate<Request.Response>, NetworkError> {
            transfer(interval) { monitor throws(NetworkError) in try await send(request, monitor: monitor) }
        }
    }

    extension NetworkClient {
        /// Downloads an endpoint's answer to a file, once for each subscriber, and tells how much of it has come.
        ///
        /// The file comes as ``download(_:to:options:monitor:)-(_,String,_,_)`` says: whole or not at all. Values come as
        /// ``APIClient/uploadPublisher(for:as:interval:)`` says. Cancelling the subscription cancels the download.
        /// - Parameters:
        ///   - endpoint: What to download.
        ///   - path: Where the file is to stand; its folder must be there.
        ///   - options: How it becomes a file.
        ///   - interval: How much time lies between two counts at least, not below zero; the first and the last are told at once.
        /// - Returns: Any number of ``TransferUpdate/progress(_:)`` and one ``TransferUpdate/finished(_:)``, or a
        ///   ``NetworkError``; ``NetworkError/downloadFailed(_:_:)`` where the file cannot be written or is not what it should
        ///   be.
        public func downloadPublisher(
            for endpoint: any Endpoint, to path: String, options: DownloadOptions = DownloadOptions(),
            interval: Duration = .milliseconds(100)
        ) -> AnyPublisher<TransferUpdate<NetworkResponse<DownloadedFile>>, NetworkError> {
            transfer(interval) { monitor throws(NetworkError) in
                try await self.download(endpoint, to: path, options: options, monitor: monitor)
            }
        }

        /// Downloads an endpoint's answer to a file, once for each subscriber, and tells how much of it has come. See
        /// ``downloadPublisher(for:to:options:interval:)-(_,String,_,_)``.
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
            // Where the call fails this is cancelled, and waited for, before the failure goes on.
            async let telling: Void = subscription.give(events) { .progress($0) }
            let value = try await call(monitor)
            // A client that does not look at the monitor does not end it either.
            monitor.finish()
            await telling
            await subscription.give(.finished(value))
        }
        .eraseToAnyPublisher()
    }
#endif
