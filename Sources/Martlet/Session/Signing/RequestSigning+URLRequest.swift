#if !os(Linux) || URLSession || !AsyncHTTPClient
    internal import HTTPTypes

    #if canImport(FoundationNetworking)
        public import Foundation
        public import FoundationNetworking
    #else
        public import Foundation
    #endif

    extension TokenManager {
        /// Signs a request of `URLSession`. If the token must be refreshed first, waits for that.
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
        ///   - requirement: With ``AuthenticationRequirement/required``, a request without a session throws instead.
        ///   - session: The only session that may sign the request, if it is a retry of one that this session has signed.
        /// - Returns: The session and rotation of the token; `nil` if the request is not signed.
        /// - Throws: ``SessionError`` if the store cannot be read, the token cannot be refreshed now, or a session is
        ///   required and there is none; ``SessionError/sessionChanged`` if the session that was current when the method was
        ///   called has ended, or if `session` is no longer the current one.
        @discardableResult
        public func sign(
            _ request: inout URLRequest, _ requirement: AuthenticationRequirement = .ifSignedIn,
            for session: SessionID? = nil
        ) async throws(SessionError) -> SessionStamp? {
            var fields = token(on: request)
            defer { put(fields, on: &request) }
            return try await sign(&fields, target: request.url?.absoluteString, requirement, for: session)
        }

        /// Checks the response to a request. If the server rejected the request's token, signs the request with another
        /// one, after a refresh if necessary. All rejected requests share that refresh.
        ///
        /// Call it once per request and send the request again at most once. A request without a token is not changed,
        /// and the result is `false`.
        /// - Parameters:
        ///   - response: The response.
        ///   - body: The body of the response, if the manager's ``AccessTokenRejection`` examines it.
        ///   - request: The request as it was sent. It is signed with another token if the result is `true`.
        /// - Returns: Whether to send the request again.
        /// - Throws: ``SessionError/sessionChanged`` if the request belongs to a session that has ended: it must not be
        ///   sent under another user's token. ``SessionError/expired(_:)`` if the user must sign in again. Any other
        ///   ``SessionError`` if there is no other token now.
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
            let sent = request
            return try await recover(
                &fields, target: sent.url?.absoluteString,
                ifRejected: isRejected(ServerResponse(head: head, body: body), to: Self.head(of: sent)))
        }

        /// The request as a ``AccessTokenRejection`` sees it.
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
