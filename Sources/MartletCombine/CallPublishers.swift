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

    extension APIClient {
        /// Sends an endpoint once for each subscriber, and publishes its response as the type that the caller names.
        ///
        /// ```swift
        /// client.publisher(for: ArticleEndpoint.all, as: [Article].self)
        ///     .receive(on: DispatchQueue.main)
        ///     .sink { completion in … } receiveValue: { articles in … }
        ///     .store(in: &subscriptions)
        /// ```
        ///
        /// Nothing is sent before a subscription. The response is delivered on demand, on a thread of Swift's
        /// concurrency runtime; use `receive(on:)` to choose another one. Cancelling the subscription cancels the call,
        /// and nothing is delivered afterwards.
        /// - Parameters:
        ///   - endpoint: The endpoint to send.
        ///   - type: The type to decode.
        /// - Returns: One value, or a `NetworkError` that names the endpoint.
        public func publisher<Value: Decodable & Sendable>(
            for endpoint: some APIEndpoint, as type: Value.Type = Value.self
        ) -> AnyPublisher<Value, NetworkError> {
            single { () throws(NetworkError) in try await send(endpoint, as: type) }
        }

        /// Sends an endpoint once for each subscriber, and ignores the body of a successful response.
        /// - Returns: `()` if the call has succeeded, or a `NetworkError` that names the endpoint.
        public func publisher(for endpoint: some APIEndpoint) -> AnyPublisher<Void, NetworkError> {
            single { () throws(NetworkError) in try await send(endpoint) }
        }

        /// Sends a request once for each subscriber, and publishes its `APIRequest.Response`.
        /// - Returns: One value, or a `NetworkError` that names the endpoint.
        public func publisher<Request: APIRequest>(
            for request: Request
        ) -> AnyPublisher<Request.Response, NetworkError> {
            single { () throws(NetworkError) in try await send(request) }
        }

        /// Sends an endpoint once for each subscriber, and publishes its decoded response with the head, the attempts
        /// and the duration, and with the `code`, `message` and `meta` of its envelope.
        /// - Parameters:
        ///   - endpoint: The endpoint to send.
        ///   - type: The type to decode.
        /// - Returns: One value, or a `NetworkError` that names the endpoint.
        public func responsePublisher<Value: Decodable & Sendable>(
            for endpoint: some APIEndpoint, as type: Value.Type = Value.self
        ) -> AnyPublisher<NetworkResponse<Value>, NetworkError> {
            single { () throws(NetworkError) in try await response(for: endpoint, as: type) }
        }

        /// Sends a request once for each subscriber, and publishes its decoded `APIRequest.Response` with the head, the
        /// attempts and the duration, and with the `code`, `message` and `meta` of its envelope.
        /// - Returns: One value, or a `NetworkError` that names the endpoint.
        public func responsePublisher<Request: APIRequest>(
            for request: Request
        ) -> AnyPublisher<NetworkResponse<Request.Response>, NetworkError> {
            single { () throws(NetworkError) in try await response(for: request) }
        }

        /// Sends an endpoint once for each subscriber, and publishes the undecoded body of the response.
        /// - Returns: One value, or a `NetworkError` that names the endpoint.
        public func dataPublisher(for endpoint: any Endpoint) -> AnyPublisher<NetworkResponse<Data>, NetworkError> {
            single { () throws(NetworkError) in try await data(for: endpoint) }
        }

        private func single<Value: Sendable>(
            _ call: @escaping @Sendable () async throws(NetworkError) -> Value
        ) -> AnyPublisher<Value, NetworkError> {
            AnyPublisher(call)
        }
    }

    extension AnyPublisher where Output: Sendable, Failure == NetworkError {
        /// Publishes the result of async work, such as a sign-in or a guest's registration, in the same way as the
        /// publishers for calls.
        ///
        /// ```swift
        /// AnyPublisher { () throws(NetworkError) in try await client.signInResponse(for: login, as: User.self) }
        /// ```
        ///
        /// The work runs once for each subscriber. Cancelling the subscription cancels it, and nothing is delivered
        /// afterwards.
        public init(_ work: @escaping @Sendable () async throws(NetworkError) -> Output) {
            self = TaskPublisher<Output, NetworkError> { subscription throws(NetworkError) in
                await subscription.send(try await work())
            }
            .eraseToAnyPublisher()
        }
    }
#endif
