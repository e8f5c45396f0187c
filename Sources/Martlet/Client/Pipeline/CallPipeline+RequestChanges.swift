internal import HTTPTypes

/// A request before an interceptor changes it.
struct RequestSnapshot {
    let request: HTTPRequest
    let body: PreparedBody?
    let bodyVersion: Int

    init(_ request: HTTPRequest, _ context: RequestContext) {
        self.request = request
        self.body = context.outgoing
        self.bodyVersion = context.bodyVersion
    }

    init(of call: CallState) {
        self.init(call.request, call.context)
    }
}

/// The sources of a prepared request's parts, so that a third party gets only the parts that are meant for it.
struct RequestSources: Sendable {
    fileprivate let builtFields: HTTPFields
    fileprivate let builtBody: PreparedBody?
    /// The header fields that each interceptor has added to the prepared request.
    fileprivate var ownFields: [HTTPFields]
    /// The interceptor whose body the prepared request has; `nil` for the endpoint's body.
    fileprivate var bodyAuthor: Int?
    /// The body of the prepared request, from which each attempt starts.
    fileprivate(set) var preparedBody: PreparedBody?

    init(of call: CallState, interceptors: Int) {
        builtFields = call.request.headerFields
        builtBody = call.body
        ownFields = Array(repeating: HTTPFields(), count: interceptors)
        preparedBody = call.body
    }
}

/// Runs the hooks that change requests, and withholds from third parties what interceptors add.
///
/// A third party gets the fields of the endpoint, of the pipeline and of a ``ResponseReceiver``. It gets the fields and
/// the body of an interceptor only if that interceptor has sent the request there, and never the fields of the client.
extension CallPipeline {
    /// The origin of an adapted request. If an interceptor has changed it, the token is removed.
    func origin(
        of request: inout HTTPRequest, adaptedFrom call: inout CallState, _ recipient: Recipient
    ) throws -> Origin {
        guard !request.hasSameOrigin(as: call.request) else { return call.context.origin }
        let target = try origin(of: request)
        guard target != call.context.origin else { return target }
        let fields = request.headerFields
        authorizer?.removeToken(from: &request, for: &call)
        // For a third party the token has been removed already. The fields that the interceptor has put in its place
        // stay.
        if case .thirdParty = recipient { request.headerFields = fields }
        return target
    }

    func origin(of request: HTTPRequest) throws -> Origin {
        let url = "\(request.scheme ?? "https")://\(request.authority ?? "")"
        let origin = try Location.parse(url).get().origin
        guard exchangeRunner.allowsInsecureHTTP || !origin.isInsecure else {
            throw Redirect.Refusal.insecure(url: "\(origin)")
        }
        return origin
    }

    func prepare(_ call: inout CallState) async throws {
        call.sources = RequestSources(of: call, interceptors: config.interceptors.count)
        let built = RequestSnapshot(of: call)
        for (index, interceptor) in config.interceptors.enumerated() {
            let before = RequestSnapshot(of: call)
            try await interceptor.prepare(&call.request, for: &call.context)
            keepChanges(since: before, by: index, &call)
        }
        try applyChanges(since: built, &call)
    }

    /// Makes an interceptor's changes a part of the prepared request.
    /// - Parameter before: The prepared request before the change.
    @inline(never)
    func keepChanges(since before: RequestSnapshot, by index: Int, _ call: inout CallState) {
        // The retry policy changes nothing.
        guard var sources = call.sources, sources.ownFields.indices.contains(index) else { return }
        var changed = RoutedRequest(request: call.request, recipient: call.recipient, bodyAuthor: sources.bodyAuthor)
        confine(&changed, after: Change(from: before, by: index), in: &call) {
            sources.builtFields.contains($0) || sources.ownFields[index].contains($0)
        }
        for field in changed.request.headerFields where !before.request.headerFields.contains(field) {
            sources.ownFields[index].append(field)
        }
        sources.preparedBody = call.body
        sources.bodyAuthor = changed.bodyAuthor
        (call.request, call.recipient, call.sources) = (changed.request, changed.recipient, sources)
    }

    /// Updates the rest of the call after interceptors have changed the prepared request.
    @inline(never)
    func applyChanges(since before: RequestSnapshot, _ call: inout CallState) throws {
        if call.context.bodyVersion != before.bodyVersion {
            call.authorization.transferTime = call.body.flatMap(config.transferTime)
            var fields = call.request.headerFields
            updateExpectation(in: &fields, &call)
            call.request.headerFields = fields
        }
        if !call.request.hasSameOrigin(as: before.request) {
            call.context.origin = try origin(of: call.request)
            // A token that was taken for the former origin must not go to the new one.
            call.authorization.dropToken()
        }
    }

    /// Lets the interceptors change the request of an attempt.
    /// - Parameter unsigned: The request of the attempt, without a token.
    /// - Returns: The recipient of the adapted request.
    func adapt(
        _ request: inout HTTPRequest, from unsigned: HTTPRequest, _ call: inout CallState
    ) async throws -> Recipient {
        guard let sources = call.sources else { return call.recipient }
        var adapted = RoutedRequest(request: request, recipient: call.recipient, bodyAuthor: sources.bodyAuthor)
        let prepared = call.request.headerFields
        for (index, interceptor) in config.interceptors.enumerated() {
            let before = RequestSnapshot(adapted.request, call.context)
            try await interceptor.adapt(&adapted.request, for: &call.context)
            confine(&adapted, after: Change(from: before, by: index), in: &call) { field in
                // A field that the prepared request lacks comes from the receiver.
                sources.builtFields.contains(field) || sources.ownFields[index].contains(field)
                    || unsigned.headerFields.contains(field) && !prepared.contains(field)
            }
        }
        request = adapted.request
        authorizer?.markCredentials(in: &request, of: call)
        if call.context.bodyVersion > 0 { updateExpectation(in: &request.headerFields, &call) }
        return adapted.recipient
    }

    /// After an interceptor has changed a request, removes the parts that the new recipient must not get.
    /// - Parameter isOlder: Whether a field comes from the endpoint, the client, the pipeline, the receiver or an
    ///   earlier hook of the same interceptor.
    private func confine(
        _ changed: inout RoutedRequest, after change: Change, in call: inout CallState,
        _ isOlder: (HTTPField) -> Bool
    ) {
        let before = change.before
        let isNewBody = call.context.bodyVersion != before.bodyVersion
        // Another spelling of an origin is still the same origin.
        if changed.request.hasSameOrigin(as: before.request) || changed.request.origin == before.request.origin {
            if case .thirdParty(let sender) = changed.recipient, sender != change.interceptor {
                let fields = changed.request.headerFields
                changed.request.headerFields = before.request.headerFields.filtered { fields.contains($0.name) }
                call.context.outgoing = before.body
            } else if isNewBody {
                changed.bodyAuthor = change.interceptor
            }
            return
        }
        if isNewBody { changed.bodyAuthor = change.interceptor }
        let wasTrusted = if case .trusted = changed.recipient { true } else { false }
        changed.recipient = changed.request.origin.map { recipient(of: $0) } ?? .thirdParty(sender: nil)
        if case .thirdParty = changed.recipient {
            stripFieldsForThirdParty(&changed, after: change, in: &call, isOlder)
        } else if !wasTrusted {
            changed.request.headerFields.addMissing(config.headers)
        }
    }

    /// Removes the fields of the client and of other interceptors, and their body, from a request that an interceptor
    /// has sent to a third party.
    private func stripFieldsForThirdParty(
        _ changed: inout RoutedRequest, after change: Change, in call: inout CallState,
        _ isOlder: (HTTPField) -> Bool
    ) {
        let former = change.before.request.headerFields
        let own = call.context.sentEndpoint.headers
        let token = call.context.stamp == nil ? nil : tokens?.scheme.token(in: former)?.reveal()
        changed.recipient = .thirdParty(sender: change.interceptor)
        changed.request.headerFields = changed.request.headerFields.filtered { field in
            if former.contains(field) {
                return isOlder(field) && (own.contains(field.name) || !config.headers.contains(field))
            }
            // The interceptor has added the field. It may have written the token in another form.
            return token.map { !field.value.contains($0) } ?? true
        }
        if changed.bodyAuthor != change.interceptor {
            call.context.outgoing = call.sources?.builtBody
            changed.bodyAuthor = nil
        }
        if let type = call.body?.contentType, changed.request.headerFields[.contentType] == nil {
            changed.request.headerFields[.contentType] = type
        }
    }
}

/// A request that interceptors change, with its recipient.
private struct RoutedRequest {
    var request: HTTPRequest
    var recipient: Recipient
    /// The interceptor whose body the request has; `nil` for the endpoint's body.
    var bodyAuthor: Int?
}

/// A change of a request by an interceptor.
private struct Change {
    let before: RequestSnapshot
    /// The index of the interceptor.
    let interceptor: Int

    init(from before: RequestSnapshot, by interceptor: Int) {
        self.before = before
        self.interceptor = interceptor
    }
}

extension HTTPRequest {
    func hasSameOrigin(as other: HTTPRequest) -> Bool {
        authority == other.authority && scheme == other.scheme
    }

    /// The origin of the request; `nil` if its authority is not valid.
    fileprivate var origin: Origin? {
        Origin("\(scheme ?? "https")://\(authority ?? "")")
    }
}

extension HTTPFields {
    /// Whether the fields contain this name and value, sensitive or not.
    fileprivate func contains(_ field: HTTPField) -> Bool {
        self[fields: field.name].contains { $0.value == field.value }
    }

    fileprivate func filtered(_ isIncluded: (HTTPField) -> Bool) -> HTTPFields {
        HTTPFields(filter(isIncluded))
    }

    fileprivate mutating func addMissing(_ other: HTTPFields) {
        let names = Set(map(\.name))
        for field in other where !names.contains(field.name) { append(field) }
    }
}
