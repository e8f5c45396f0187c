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

    // Variants of this module's publishers that deliver on a scheduler. Each one applies `receive(on:)` directly to the
    // publisher without `on:`, so no operator of the app runs elsewhere.

    extension APIClient {
        /// Sends an endpoint once for each subscriber, and publishes its response on a scheduler.
        ///
        /// ```swift
        /// client.publisher(for: ArticleEndpoint.all, as: [Article].self, on: DispatchQueue.main)
        ///     .map { articles in articles.filter { !self.hidden.contains($0.id) } }
        ///     .sink { completion in … } receiveValue: { articles in … }
        ///     .store(in: &subscriptions)
        /// ```
        ///
        /// Values and completions arrive on the scheduler, also in operators that follow directly, such as `map`. In a
        /// class or view that is isolated to the main actor, closures are isolated too, and Swift 6 ends the process if
        /// one is called from another thread. Pass `DispatchQueue.main` there. Otherwise, this publisher works like
        /// `publisher(for:as:)`.
        /// - Parameters:
        ///   - endpoint: The endpoint to send.
        ///   - type: The type to decode.
        ///   - scheduler: The scheduler of values and completions.
        /// - Returns: One value, or a `NetworkError` that names the endpoint.
        public func publisher<Value: Decodable & Sendable>(
            for endpoint: some APIEndpoint, as type: Value.Type = Value.self, on scheduler: some Scheduler
        ) -> AnyPublisher<Value, NetworkError> {
            publisher(for: endpoint, as: type).delivered(on: scheduler)
        }

        /// Sends an endpoint once for each subscriber, and ignores the body of a successful response. Delivers on a
        /// scheduler; see `publisher(for:as:on:)`.
        public func publisher(
            for endpoint: some APIEndpoint, on scheduler: some Scheduler
        ) -> AnyPublisher<Void, NetworkError> {
            publisher(for: endpoint).delivered(on: scheduler)
        }

        /// Sends a request once for each subscriber, and publishes its `APIRequest.Response` on a scheduler; see
        /// `publisher(for:as:on:)`.
        public func publisher<Request: APIRequest>(
            for request: Request, on scheduler: some Scheduler
        ) -> AnyPublisher<Request.Response, NetworkError> {
            publisher(for: request).delivered(on: scheduler)
        }

        /// Sends an endpoint once for each subscriber, and publishes its decoded response with the head on a scheduler;
        /// see `publisher(for:as:on:)`.
        public func responsePublisher<Value: Decodable & Sendable>(
            for endpoint: some APIEndpoint, as type: Value.Type = Value.self, on scheduler: some Scheduler
        ) -> AnyPublisher<NetworkResponse<Value>, NetworkError> {
            responsePublisher(for: endpoint, as: type).delivered(on: scheduler)
        }

        /// Sends a request once for each subscriber, and publishes its decoded `APIRequest.Response` with the head on a
        /// scheduler; see `publisher(for:as:on:)`.
        public func responsePublisher<Request: APIRequest>(
            for request: Request, on scheduler: some Scheduler
        ) -> AnyPublisher<NetworkResponse<Request.Response>, NetworkError> {
            responsePublisher(for: request).delivered(on: scheduler)
        }

        /// Sends an endpoint once for each subscriber, and publishes the undecoded body of the response on a scheduler;
        /// see `publisher(for:as:on:)`.
        public func dataPublisher(
            for endpoint: any Endpoint, on scheduler: some Scheduler
        ) -> AnyPublisher<NetworkResponse<Data>, NetworkError> {
            dataPublisher(for: endpoint).delivered(on: scheduler)
        }

        /// Sends an endpoint once for each subscriber, and publishes the progress of its body and then its response on
        /// a scheduler; see `uploadPublisher(for:as:interval:)` and `publisher(for:as:on:)`.
        public func uploadPublisher<Value: Decodable & Sendable>(
            for endpoint: some APIEndpoint, as type: Value.Type = Value.self, interval: Duration = .milliseconds(100),
            on scheduler: some Scheduler
        ) -> AnyPublisher<TransferUpdate<Value>, NetworkError> {
            uploadPublisher(for: endpoint, as: type, interval: interval).delivered(on: scheduler)
        }

        /// Sends an endpoint once for each subscriber, publishes the progress of its body on a scheduler, and ignores
        /// the body of the response; see `uploadPublisher(for:as:interval:)` and `publisher(for:as:on:)`.
        public func uploadPublisher(
            for endpoint: some APIEndpoint, interval: Duration = .milliseconds(100), on scheduler: some Scheduler
        ) -> AnyPublisher<TransferUpdate<Void>, NetworkError> {
            uploadPublisher(for: endpoint, interval: interval).delivered(on: scheduler)
        }

        /// Sends a request once for each subscriber, and publishes the progress of its body and then its
        /// `APIRequest.Response` on a scheduler; see `uploadPublisher(for:as:interval:)` and `publisher(for:as:on:)`.
        public func uploadPublisher<Request: APIRequest>(
            for request: Request, interval: Duration = .milliseconds(100), on scheduler: some Scheduler
        ) -> AnyPublisher<TransferUpdate<Request.Response>, NetworkError> {
            uploadPublisher(for: request, interval: interval).delivered(on: scheduler)
        }

        /// Sends an endpoint once for each subscriber, and publishes the progress of its body and then its decoded
        /// response with the head on a scheduler; see `uploadResponsePublisher(for:as:interval:)` and
        /// `publisher(for:as:on:)`.
        public func uploadResponsePublisher<Value: Decodable & Sendable>(
            for endpoint: some APIEndpoint, as type: Value.Type = Value.self, interval: Duration = .milliseconds(100),
            on scheduler: some Scheduler
        ) -> AnyPublisher<TransferUpdate<NetworkResponse<Value>>, NetworkError> {
            uploadResponsePublisher(for: endpoint, as: type, interval: interval).delivered(on: scheduler)
        }

        /// Sends a request once for each subscriber, and publishes the progress of its body and then its decoded
        /// `APIRequest.Response` with the head on a scheduler; see `uploadResponsePublisher(for:as:interval:)` and
        /// `publisher(for:as:on:)`.
        public func uploadResponsePublisher<Request: APIRequest>(
            for request: Request, interval: Duration = .milliseconds(100), on scheduler: some Scheduler
        ) -> AnyPublisher<TransferUpdate<NetworkResponse<Request.Response>>, NetworkError> {
            uploadResponsePublisher(for: request, interval: interval).delivered(on: scheduler)
        }
    }

    extension NetworkClient {
        /// Downloads the response of an endpoint to a file once for each subscriber, and publishes the progress on a
        /// scheduler; see `downloadPublisher(for:to:options:interval:)` and `publisher(for:as:on:)`.
        public func downloadPublisher(
            for endpoint: any Endpoint, to path: String, options: DownloadOptions = DownloadOptions(),
            interval: Duration = .milliseconds(100), on scheduler: some Scheduler
        ) -> AnyPublisher<TransferUpdate<NetworkResponse<DownloadedFile>>, NetworkError> {
            downloadPublisher(for: endpoint, to: path, options: options, interval: interval).delivered(on: scheduler)
        }

        /// Downloads the response of an endpoint to a file once for each subscriber, and publishes the progress on a
        /// scheduler; see `downloadPublisher(for:to:options:interval:)` and `publisher(for:as:on:)`.
        public func downloadPublisher(
            for endpoint: any Endpoint, to url: URL, options: DownloadOptions = DownloadOptions(),
            interval: Duration = .milliseconds(100), on scheduler: some Scheduler
        ) -> AnyPublisher<TransferUpdate<NetworkResponse<DownloadedFile>>, NetworkError> {
            downloadPublisher(for: endpoint, to: url, options: options, interval: interval).delivered(on: scheduler)
        }
    }

    extension TokenManager {
        /// The current state, then each change, on a scheduler; see `statePublisher`.
        public func statePublisher(on scheduler: some Scheduler) -> AnyPublisher<SessionState, Never> {
            statePublisher.delivered(on: scheduler)
        }

        /// Every event after subscribing, on a scheduler; see `eventPublisher`.
        public func eventPublisher(on scheduler: some Scheduler) -> AnyPublisher<SessionEvent, Never> {
            eventPublisher.delivered(on: scheduler)
        }
    }

    extension Publisher {
        fileprivate func delivered(on scheduler: some Scheduler) -> AnyPublisher<Output, Failure> {
            receive(on: scheduler).eraseToAnyPublisher()
        }
    }
#endif
