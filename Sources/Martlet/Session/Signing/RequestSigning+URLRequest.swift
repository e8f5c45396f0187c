#if !os(Linux) || URLSession || !AsyncHTTPClient
    internal import HTTPTypes

    #if canImport(FoundationNetworking)
        public import Foundation
        public import FoundationNetworking
    #else
        public import Foundation
    #endif

    extension TokenManager {
        /// Signs a request for `URLSession`, after refreshing the token if necessary.
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
        /// <doc:KeepingTheClientYouHave> has adapters for Alamofire, Moya, Apollo and others.
        ///
        /// Tokens are sent only to the base URL's origin and the trusted origins, over https or to this machine. A
        /// request to any other origin is not changed.
        ///
        /// If no user is signed in, or the session has expired, the request is not changed either, so that the login
        /// can pass through the same client. Only a token of a former session of this manager is removed.
        /// - Parameters:
        ///   - request: The request. A token that it already carries is replaced.
        ///   - requirement: With ``AuthenticationRequirement/required``, a request without a session throws an error.
        ///   - session: The only session that may sign the request, if it is a retry of one that this session has
        ///     signed.
        /// - Returns: The session and rotation of the token; `nil` if the request is not signed.
        /// - Throws: ``SessionError`` if the store cannot be read, the token cannot be refreshed now, or a session is
        ///   required and there is none; ``SessionError/sessionChanged`` if the session that was current when the
        ///   method was called has ended, or if `session` is no longer the current one.
        @discardableResult
        public func sign(
            _ request: inout URLRequest, _ requirement: AuthenticationRequirement = .ifSignedIn,
            for session: SessionID? = nil
        ) async throws(SessionError) -> SessionStamp? {
            var fields = token(on: request)
            defer { put(fields, on: &request) }
            return try await sign(
                &fields, target: request.url?.absoluteString, requirement, for: session, as: currentOwner)
        }

        /// Checks the response to a request. If the server rejected the request's token, signs the request with another
        /// one, after a refresh if necessary. Concurrent rejected requests share one refresh.
        ///
        /// Call it once per request and send the request again at most once. A request without a token is not changed,
        /// and the result is `false`. The result is also `false` if a redirect led to another origin, because that
        /// server never received the token.
        /// - Parameters:
        ///   - response: The response.
        ///   - body: The body of the response, if the manager's ``AccessTokenRejectionRule`` examines it.
        ///   - request: The request as it was sent. It is signed with another token if the result is `true`.
        /// - Returns: Whether to send the request again.
        /// - Throws: ``SessionError/sessionChanged`` if the request belongs to a session that has ended: it must not be
        ///   sent under another user's token. ``SessionError/expired(_:)`` if the user must sign in again. Any other
        ///   ``SessionError`` if there is no other token now.
        public func recover(
            from response: URLResponse, body: Data = Data(), to request: inout URLRequest
        ) async throws(SessionError) -> Bool {
            try await recover(from: response, body: body, to: &request) { true }
        }

        /// Returns the request with which `URLSession` is to follow a redirect, for the delegate method
        /// `willPerformHTTPRedirection`.
        ///
        /// `URLSession` follows redirects by itself. On Linux it sends every header field to the new URL, even to a URL
        /// of another origin. On Apple platforms it drops `Authorization` even within the origin, and keeps the header
        /// fields of other token schemes. This method keeps the token for its own origin, and removes it for any other:
        ///
        /// ```swift
        /// func urlSession(
        ///     _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        ///     newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        /// ) {
        ///     completionHandler(tokens.redirected(task.originalRequest, by: response, to: request))
        /// }
        /// ```
        ///
        /// <doc:KeepingTheClientYouHave#Redirects> says which clients need it.
        /// - Parameters:
        ///   - request: The first request of the task, as it was signed.
        ///   - response: The redirect.
        ///   - next: The request that `URLSession` proposes.
        /// - Returns: `next`, with the token of `request` if the URLs of `request`, `response` and `next` have the same
        ///   origin, and without a token otherwise.
        public func redirected(
            _ request: URLRequest?, by response: HTTPURLResponse, to next: URLRequest
        ) -> URLRequest {
            let origin = Self.origin(of: next.url)
            let stays = origin != nil && [request?.url, response.url].allSatisfy { Self.origin(of: $0) == origin }
            var next = next
            put(stays ? request.map(token(on:)) ?? HTTPFields() : HTTPFields(), on: &next)
            return next
        }

        /// Signs a request for its owner.
        func sign(
            _ request: inout URLRequest, _ requirement: AuthenticationRequirement, as owner: CallOwner
        ) async throws(SessionError) -> SessionStamp? {
            var fields = token(on: request)
            defer { put(fields, on: &request) }
            return try await sign(&fields, target: request.url?.absoluteString, requirement, as: owner)
        }

        /// - Parameter mayRecover: Called after a token was rejected. If it returns `false`, the token is not replaced.
        func recover(
            from response: URLResponse, body: Data, to request: inout URLRequest, if mayRecover: () -> Bool
        ) async throws(SessionError) -> Bool {
            guard let response = response as? HTTPURLResponse else { return false }
            if let url = response.url, Self.origin(of: url) != Self.origin(of: request.url) { return false }
            var head = HTTPResponse(status: .init(code: response.statusCode))
            for case (let name as String, let value as String) in response.allHeaderFields {
                if let name = HTTPField.Name(name) { head.headerFields.append(HTTPField(name: name, value: value)) }
            }
            var fields = token(on: request)
            defer { put(fields, on: &request) }
            let sent = request
            return try await recover(
                &fields, target: sent.url?.absoluteString,
                ifRejected: isRejected(ServerResponse(head: head, body: body), to: Self.head(of: sent)) && mayRecover())
        }

        /// The request in the form that an ``AccessTokenRejectionRule`` examines.
        private static func head(of request: URLRequest) -> HTTPRequest {
            let location = request.url.flatMap { try? Location.parse($0.absoluteString).get() }
            var head = HTTPRequest(
                method: request.httpMethod.flatMap { .init($0) } ?? .get, scheme: location?.origin.scheme,
                authority: location?.authority, path: location?.target)
            for (name, value) in request.allHTTPHeaderFields ?? [:] {
                if let name = HTTPField.Name(name) { head.headerFields[name] = value }
            }
            return head
        }

        private static func origin(of url: URL?) -> Origin? {
            url.flatMap { try? Location.parse($0.absoluteString).get().origin }
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
