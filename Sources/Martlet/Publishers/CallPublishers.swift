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

    extension APIClient {
        /// Sends an endpoint whose response the caller names, once for each subscriber.
        ///
        /// ```swift
        /// client.publisher(for: ArticleEndpoint.all, as: [Article].self)
        ///     .receive(on: DispatchQueue.main)
        ///     .sink { completion in … } receiveValue: { articles in … }
        ///     .store(in: &subscriptions)
        /// ```
        ///
        /// Nothing is sent before somebody subscribes. The answer waits until it is asked for, and comes on a thread of
        /// Swift's concurrency: `receive(on:)` says where it is wanted. Cancelling the subscription cancels the call, and
        /// nothing comes after that.
        /// - Parameters:
        ///   - endpoint: What to send.
        ///   - type: What to decode.
        /// - Returns: One value, or a ``NetworkError`` that names the endpoint.
        public func publisher<Value: Decodable & Sendable>(
            for endpoint: some APIEndpoint, as type: Value.Type = Value.self
        ) -> AnyPublisher<Value, NetworkError> {
            single { () throws(NetworkError) in try await send(endpoint, as: type) }
        }

        /// Sends an endpoint whose response has nothing to tell, once for each subscriber; any body of a successful answer is
        /// ignored.
        /// - Returns: `()` when the call has succeeded, or a ``NetworkError`` that names the endpoint.
        public func publisher(for endpoint: some APIEndpoint) -> AnyPublisher<Void, NetworkError> {
            single { () throws(NetworkError) in try await send(endpoint) }
        }

        /// Sends a request with a response bound to it, once for each subscriber.
        /// - Returns: One value, or a ``NetworkError`` that names the endpoint.
        public func publisher<Request: APIRequest>(
            for request: Request
        ) -> AnyPublisher<Request.Response, NetworkError> {
            single { () throws(NetworkError) in try await send(request) }
        }

        /// Sends an endpoint, once for each subscriber, and tells what came with the answer.
        /// - Parameters:
        ///   - endpoint: What to send.
        ///   - type: What to decode.
        /// - Returns: One value, or a ``NetworkError`` that names the endpoint.
        public func responsePublisher<Value: Decodable & Sendable>(
            for endpoint: any Endpoint, as type: Value.Type
        ) -> AnyPublisher<NetworkResponse<Value>, NetworkError> {
            single { () throws(NetworkError) in try await response(for: endpoint, as: type) }
        }

        /// Sends an endpoint, once for each subscriber, and gives the bytes of the answer as they came.
        /// - Returns: One value, or a ``NetworkError`` that names the endpoint.
        public func dataPublisher(for endpoint: any Endpoint) -> AnyPublisher<NetworkResponse<Data>, NetworkError> {
            single { () throws(NetworkError) in try await data(for: endpoint) }
        }

        private func single<Value: Sendable>(
            _ call: @escaping @Sendable () async throws(NetworkError) -> Value
        ) -> AnyPublisher<Value, NetworkError> {
            TaskPublisher<Value, NetworkError> { subscription throws(NetworkError) in
                await subscription.give(try await call())
            }
            .eraseToAnyPublisher()
        }
    }
#endif
