#if !os(Linux) || URLSession || !AsyncHTTPClient
    #if canImport(FoundationNetworking)
        public import Foundation
        public import FoundationNetworking
    #else
        public import Foundation
    #endif

    /// Signs the requests of an HTTP client that retries requests on its own, such as Alamofire.
    ///
    /// Such a client asks its interceptor again before each attempt. A signer keeps all attempts of a request together:
    ///
    /// - They belong to the session that was current before the first one, even if that attempt could not be signed.
    ///   Once another user has signed in, `sign` throws ``SessionError/sessionChanged``.
    /// - A request that began without a session, such as the login, stays without a token.
    /// - A rejected token is replaced once, however often the client repeats the request for other reasons.
    ///
    /// ```swift
    /// let signer = RequestSigner(tokens: tokens)
    /// try await signer.sign(&urlRequest, of: request)                                       // before each attempt
    /// let isRepeated = try await signer.recover(from: response, to: &urlRequest, of: request)
    /// ```
    ///
    /// The signer recognizes a request by its object, which it does not retain. It forgets a request when that object
    /// is released, so one signer serves a client for the life of the app. <doc:KeepingTheClientYouHave> has adapters
    /// that use it.
    public final class RequestSigner: Sendable {
        private struct Entry {
            weak var request: AnyObject?
            var owner: CallOwner
            /// The field with the token in the last attempt; `nil` if it was not signed.
            var signature: Secret?
            var hasRecovered = false
        }

        private struct State {
            var entries: [ObjectIdentifier: Entry] = [:]
            /// The number of entries above which those of released requests are removed.
            var limit = RequestSigner.smallestLimit
        }

        private static let smallestLimit = 64

        private let tokens: TokenManager
        private let state = Locked(State())

        /// Creates a signer for the requests of one or more clients.
        public init(tokens: TokenManager) {
            self.tokens = tokens
        }

        /// The number of requests that the signer remembers, released ones included.
        var count: Int { state.withLock { $0.entries.count } }

        /// Signs an attempt of a request, as `sign(_:_:for:)` of the manager does.
        /// - Parameters:
        ///   - attempt: The request that the client is about to send. A token that it already carries is replaced.
        ///   - requirement: With ``AuthenticationRequirement/required``, an attempt without a session throws an error.
        ///   - request: The client's object for all attempts of the request.
        /// - Returns: The session and rotation of the token; `nil` if the attempt is not signed.
        /// - Throws: ``SessionError/sessionChanged`` if the session of the first attempt has ended. Any other
        ///   ``SessionError`` if there is no token now.
        @discardableResult
        public func sign(
            _ attempt: inout URLRequest, _ requirement: AuthenticationRequirement = .ifSignedIn,
            of request: any AnyObject & Sendable
        ) async throws(SessionError) -> SessionStamp? {
            let (first, isKnown) = begin(request, as: tokens.currentOwner)
            let owner = await tokens.resolved(first)
            update(request) { entry in
                entry.owner = owner
                entry.signature = nil
            }
            if isKnown, requirement == .ifSignedIn, [.signedOut, .expired].contains(owner.signInState) { return nil }
            let stamp = try await tokens.sign(&attempt, requirement, as: owner)
            let signature = stamp == nil ? nil : signature(of: attempt)
            update(request) { $0.signature = signature }
            return stamp
        }

        /// Checks the response to an attempt, as `recover(from:body:to:)` of the manager does. Call it for each
        /// failed attempt.
        /// - Parameters:
        ///   - response: The response.
        ///   - body: The body of the response, if the manager's ``AccessTokenRejectionRule`` examines it.
        ///   - attempt: The request as it was sent. It is signed with another token if the result is `true`.
        ///   - request: The client's object for all attempts of the request.
        /// - Returns: Whether to repeat the request because the server has rejected its token. It is `false` once the
        ///   token of the request has been replaced, for a request that this signer has not signed, and for one that
        ///   was sent with another credential.
        /// - Throws: ``SessionError/sessionChanged`` if the request belongs to a session that has ended: it must not be
        ///   sent under another user's token. ``SessionError/expired(_:)`` if the user must sign in again. Any other
        ///   ``SessionError`` if there is no other token now.
        public func recover(
            from response: URLResponse, body: Data = Data(), to attempt: inout URLRequest,
            of request: any AnyObject & Sendable
        ) async throws(SessionError) -> Bool {
            // Another adapter may have put a credential of the app's own in the place of the token.
            guard let signature = update(request, { $0.signature }).flatMap(\.self),
                signature == self.signature(of: attempt)
            else { return false }
            return try await tokens.recover(from: response, body: body, to: &attempt) {
                update(request) { entry in
                    // Count a failed refresh, too: it must not run again when the client asks how to handle its error.
                    defer { entry.hasRecovered = true }
                    return !entry.hasRecovered
                } ?? false
            }
        }

        private func signature(of attempt: URLRequest) -> Secret? {
            attempt.value(forHTTPHeaderField: tokens.scheme.header.rawName).map { Secret($0) }
        }

        /// The owner of a request, and whether the request had one before.
        private func begin(_ request: any AnyObject & Sendable, as current: CallOwner) -> (
            owner: CallOwner, isKnown: Bool
        ) {
            if let owner = update(request, { $0.owner }) { return (owner, true) }
            state.withLock { state in
                state.entries[ObjectIdentifier(request)] = Entry(request: request, owner: current)
                guard state.entries.count > state.limit else { return }
                state.entries = state.entries.filter { $0.value.request != nil }
                state.limit = max(Self.smallestLimit, state.entries.count * 2)
            }
            return (current, false)
        }

        @discardableResult
        private func update<Result: Sendable>(
            _ request: any AnyObject & Sendable, _ body: (inout Entry) -> Result
        ) -> Result? {
            state.withLock { state in
                // Another object may have been allocated at the address of a released request.
                guard var entry = state.entries[ObjectIdentifier(request)], entry.request === request else {
                    return nil
                }
                let result = body(&entry)
                state.entries[ObjectIdentifier(request)] = entry
                return result
            }
        }
    }
#endif
