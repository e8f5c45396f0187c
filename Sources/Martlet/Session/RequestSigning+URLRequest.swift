#if !os(Linux) || URLSession || !AsyncHTTPClient
    internal import HTTPTypes

    #if canImport(FoundationNetworking)
        public import Foundation
        public import FoundationNetworking
    #else
        public import Foundation
    #endif

    extension TokenManager {
        /// Signs a request of `URLSession`, waiting for a valid token where it must.
        ///
        /// With `URLSession` itself:
        ///
        /// ```swift
        /// var request = URLRequest(url: url)
        /// try await tokens.sign(&request)
        /// var (data, response) = try await URLSession.shared.data(for: request)
        /// if try await tokens.recover(from: response, body: data, to: &request) {
        ///     (data, response) = try await URLSession.shared.data(for: request)
        /// }
        /// ```
        ///
        /// With Alamofire, and with Moya over an Alamofire session:
        ///
        /// ```swift
        /// struct SessionInterceptor: RequestInterceptor {
        ///     let tokens: TokenManager
        ///
        ///     func adapt(
        ///         _ urlRequest: URLRequest, for session: Session,
        ///         completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
        ///     ) {
        ///         Task {
        ///             var request = urlRequest
        ///             do {
        ///                 try await tokens.sign(&request)
        ///                 completion(.success(request))
        ///             } catch {
        ///                 completion(.failure(error))
        ///             }
        ///         }
        ///     }
        ///
        ///     func retry(
        ///         _ request: Request, for session: Session, dueTo error: any Error,
        ///         completion: @escaping @Sendable (RetryResult) -> Void
        ///     ) {
        ///         guard request.retryCount == 0, let response = request.response, var sent = request.request else {
        ///             return completion(.doNotRetry)
        ///         }
        ///         Task {
        ///             do {
        ///                 completion(try await tokens.recover(from: response, to: &sent) ? .retry : .doNotRetry)
        ///             } catch {
        ///                 completion(.doNotRetryWithError(error))
        ///             }
        ///         }
        ///     }
        /// }
        /// ```
        ///
        /// Alamofire asks its interceptor about failed requests only, so have each of them validated: `validate()`, or in
        /// Moya `validationType = .successCodes`. It also signs anew for each retry of its own, whoever is signed in by
        /// then: when ``states`` tells that the user has changed, call the session's `cancelAllRequests()`.
        ///
        /// The token goes only to the base URL's origin and those that the manager trusts, over https or to this machine;
        /// a request to any other place is left as it is.
        /// - Parameters:
        ///   - request: The request; a token that it carries already is replaced.
        ///   - requirement: Whether somebody must be signed in.
        /// - Returns: Whether the request is signed now.
        /// - Throws: ``SessionError`` where a token is required and there is none.
        @discardableResult
        public func sign(
            _ request: inout URLRequest, _ requirement: AuthenticationRequirement = .required
        ) async throws(SessionError) -> Bool {
            var fields = token(on: request)
            defer { put(fields, on: &request) }
            return try await sign(&fields, target: request.url?.absoluteString, requirement)
        }

        /// Judges the answer to a request that was signed here. If the server refused its token, the request gets another
        /// one, after a refresh where that takes one; all who were refused share it.
        ///
        /// Call it once for each request: what the second answer says is the answer.
        /// - Parameters:
        ///   - response: The answer.
        ///   - body: Its body, where the manager's ``rejection`` looks at that.
        ///   - request: The request as it was sent; signed anew where the result is `true`.
        /// - Returns: Whether the request is to be sent once more.
        /// - Throws: ``SessionError/sessionChanged`` where it was signed for a session that is over, which no other user's
        ///   token must take the place of; ``SessionError/expired(_:)`` where the user must sign in again; else why there is
        ///   no other token for now.
        public func recover(
            from response: URLResponse, body: Data = Data(), to request: inout URLRequest
        ) async throws(SessionError) -> Bool {
            guard let response = response as? HTTPURLResponse else { return false }
            var head = HTTPResponse(status: .init(code: response.statusCode))
            for case (let name as String, let value as String) in response.allHeaderFields {
                if let name = HTTPField.Name(name) { head.headerFields.append(HTTPField(name: name, value: value)) }
            }
            var fields = token(on: request)
            defer { put(fields, on: &request) }
            return try await recover(
                from: ServerAnswer(head: head, body: body), to: &fields, target: request.url?.absoluteString)
        }

        private func token(on request: URLRequest) -> HTTPFields {
            var fields = HTTPFields()
            fields[scheme.header] = request.value(forHTTPHeaderField: scheme.header.rawName)
            return fields
        }

        private func put(_ fields: HTTPFields, on request: inout URLRequest) {
            request.setValue(fields[scheme.header], forHTTPHeaderField: scheme.header.rawName)
        }
    }
#endif
