internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The recipient of a request.
enum Recipient: Sendable {
    /// The base URL's origin, or one that the token manager trusts.
    case trusted
    /// Any other origin: the endpoint names it, or the interceptor with this index has sent the request there.
    case thirdParty(sender: Int?)
}

extension CallPipeline {
    /// Builds the request of a call, without a token.
    ///
    /// Header fields are merged here, in this order:
    ///
    /// 1. ``NetworkConfig/headers``, unless the endpoint's path is an absolute URL of a third party, which is an origin
    ///    that is neither the base URL's nor trusted by the token manager.
    /// 2. ``Endpoint/headers``, which replace client fields of the same name.
    /// 3. Defaults for fields that are still missing: `Accept`, `Accept-Encoding: identity` beside a `Range`, the
    /// body's    `Content-Type`, `Expect` for a large body.
    ///
    /// After that, ``RequestInterceptor/prepare(_:for:)`` may change them once for the call. Each attempt starts from
    /// the prepared fields and adds, in this order:
    ///
    /// 1. The fields of a ``ResponseReceiver``. For a download these are `Accept-Encoding` if it is missing,
    ///    `Want-Repr-Digest` if the server's digest is checked, and `Range` and `If-Range` if the download resumes.
    /// 2. The access token (``Authorizer``).
    /// 3. The changes of ``RequestInterceptor/adapt(_:for:)``.
    ///
    /// After that, the cache adds its validators, the jar its cookies, and the transport its own fields. The article
    /// "A call from start to end" has the whole order.
    ///
    /// Header fields that interceptors add or change do not go to a third party. If an interceptor itself sends a
    /// request to a third party, the fields that it adds remain, and those of the client and of other interceptors are
    /// removed.
    /// - Parameter length: The length of the body, if it is known before it is encoded.
    func build(_ call: OutgoingCall, length: Int64?) throws(NetworkError) -> CallState {
        let endpoint = call.endpoint
        let location: Location
        do {
            location = try baseURL.location.get().appending(endpoint.path, query: endpoint.query)
        } catch {
            throw .invalidRequest(CallDescription(unsent: endpoint), reason: error.description)
        }
        let method = endpoint.method
        var context = RequestContext(
            endpoint: endpoint, method: method.rawValue, location: location, time: time, since: call.start.uptime)
        context.awaitsHead = call.receiver?.outlivesCall == true
        guard exchangeRunner.allowsInsecureHTTP || !location.origin.isInsecure else {
            throw .insecureURL(context.call, url: location.redactedText)
        }
        if authorizer == nil, call.start.requirement == .required { throw .signInRequired(context.call) }

        let recipient = recipient(of: location.origin)
        // The client allows plain http, but its manager withholds the token that such a call requires.
        if case .trusted = recipient, call.start.requirement == .required, location.origin.isInsecure,
            tokens?.allowsInsecureHTTP == false
        {
            throw .insecureURL(context.call, url: location.redactedText)
        }
        let clientFields = if case .trusted = recipient { config.headers } else { HTTPFields() }
        var request = HTTPRequest(
            method: method, scheme: location.origin.scheme, authority: location.authority, path: location.target,
            headerFields: .merged(client: clientFields, endpoint: endpoint.headers, accept: call.accept))
        // A range of a compressed representation cannot be decompressed.
        if request.headerFields.contains(.range), !request.headerFields.contains(.acceptEncoding) {
            request.headerFields[.acceptEncoding] = "identity"
        }
        authorizer?.markField(in: &request.headerFields)
        var state = CallState(
            request: request, recipient: recipient, context: context, authorization: call.start.authorization,
            monitor: call.monitor, receiver: call.receiver, responseOwner: call.start.responseOwner)
        state.authorization.allowsRefresh = endpoint.allowsRefresh
        if let body = call.body { try addBody(body, length: length, to: &state) }
        return state
    }

    func recipient(of origin: Origin) -> Recipient {
        let isTrusted = origin == baseURL.origin || tokens?.trustedOrigins.contains(origin) == true
        return isTrusted ? .trusted : .thirdParty(sender: nil)
    }

    private func addBody(_ body: RequestBody, length: Int64?, to call: inout CallState) throws(NetworkError) {
        let prepared: PreparedBody
        do {
            prepared = try PreparedBody(body, length: length, encoder: config.encoder)
        } catch {
            let why = Redaction.redact(String(describing: error))
            throw .invalidRequest(call.context.call, reason: "The body could not be encoded: \(why)")
        }
        call.context.outgoing = prepared
        call.authorization.transferTime = config.transferTime(of: prepared)
        if let type = prepared.contentType, !call.request.headerFields.contains(.contentType) {
            call.request.headerFields[.contentType] = type
        }
        call.expectation.update(&call.request.headerFields, isWanted: mayExpectContinue(prepared))
    }

    private func mayExpectContinue(_ body: PreparedBody) -> Bool {
        exchangeRunner.waitsForContinue && config.expectsContinue(body)
    }

    /// Adds or removes `Expect: 100-continue` after an interceptor has replaced the body.
    func updateExpectation(in fields: inout HTTPFields, _ call: inout CallState) {
        call.expectation.update(&fields, isWanted: call.body.map(mayExpectContinue) ?? false)
    }
}

extension CallPipeline {
    /// The header fields that the server gets with a request, including the jar's cookies. The session's own token is
    /// left out: it changes often, and always stands for the same owner. A field that an interceptor has put in its
    /// place is included.
    func fieldsWithoutToken(of request: HTTPRequest, _ call: CallState) -> HTTPFields {
        var fields = call.cookies?.adding(call.cookieField, to: request).headerFields ?? request.headerFields
        if let tokens, authorizer?.carriesToken(request, for: call) == true { fields[tokens.scheme.header] = nil }
        return fields
    }

    /// The credentials that the endpoint or an interceptor has put in place of the session's token.
    func fieldsInPlaceOfToken(of request: HTTPRequest, _ call: CallState) -> [HTTPField] {
        guard let tokens, call.context.stamp == nil else { return [] }
        return Array(request.headerFields[fields: tokens.scheme.header])
    }
}
