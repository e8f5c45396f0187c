internal import HTTPTypes

/// The recipient of a request.
enum Recipient: Sendable {
    /// The base URL's origin, or one that the token manager trusts.
    case trusted
    /// Any other origin: the endpoint names it, or the interceptor with this index has sent the request there.
    case thirdParty(sender: Int?)
}

/// A request before an interceptor changes it.
struct Draft {
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

/// Runs the hooks that change requests, and withholds from third parties what interceptors add.
///
/// A third party gets the fields of the endpoint, of the pipeline and of a ``ResponseReceiver``. It gets the fields and
/// the body of an interceptor only if that interceptor has sent the request there, and never the fields of the client.
extension CallPipeline {
    func recipient(of origin: Origin) -> Recipient {
        let isTrusted = origin == baseURL.origin || tokens?.trustedOrigins.contains(origin) == true
        return isTrusted ? .trusted : .thirdParty(sender: nil)
    }

    func prepare(_ call: inout CallState) async throws {
        call.hooks = HookState(of: call, interceptors: config.interceptors.count)
        let built = Draft(of: call)
        for (index, interceptor) in config.interceptors.enumerated() {
            let before = Draft(of: call)
            try await interceptor.prepare(&call.request, for: &call.context)
            adopt(before, by: index, &call)
        }
        try follow(built, &call)
    }

    /// Makes an interceptor's changes a part of the prepared request.
    /// - Parameter before: The prepared request before the change.
    func adopt(_ before: Draft, by index: Int, _ call: inout CallState) {
        // The retry policy changes nothing.
        guard var hooks = call.hooks, hooks.ownFields.indices.contains(index) else { return }
        var (request, recipient) = (call.request, call.recipient)
        confine(&request, changedFrom: before, by: index, &recipient, &hooks.bodyAuthor, in: &call) {
            hooks.builtFields.contains($0) || hooks.ownFields[index].contains($0)
        }
        for field in request.headerFields where !before.request.headerFields.contains(field) {
            hooks.ownFields[index].append(field)
        }
        hooks.preparedBody = call.body
        (call.request, call.recipient, call.hooks) = (request, recipient, hooks)
    }

    /// Lets the rest of the call follow a prepared request that interceptors have changed.
    func follow(_ before: Draft, _ call: inout CallState) throws {
        if call.context.bodyVersion != before.bodyVersion {
            call.authorization.transferTime = call.body.flatMap(config.transferTime)
            var fields = call.request.headerFields
            updateExpectation(in: &fields, &call)
            call.request.headerFields = fields
        }
        if !call.request.hasSameOrigin(as: before.request) {
            call.context.origin = try origin(of: call.request)
            // A token that was taken for the former origin must not go to the new one.
            (call.authorization.credential, call.authorization.firstCredential) = (nil, nil)
        }
    }

    /// - Parameter unsigned: The request of the attempt, without a token.
    /// - Returns: The recipient of the adapted request.
    func adapt(
        _ request: inout HTTPRequest, from unsigned: HTTPRequest, _ call: inout CallState
    ) async throws -> Recipient {
        guard let hooks = call.hooks else { return call.recipient }
        var (recipient, author) = (call.recipient, hooks.bodyAuthor)
        let prepared = call.request.headerFields
        for (index, interceptor) in config.interceptors.enumerated() {
            let before = Draft(request, call.context)
            try await interceptor.adapt(&request, for: &call.context)
            confine(&request, changedFrom: before, by: index, &recipient, &author, in: &call) { field in
                // A field that the prepared request lacks comes from the receiver.
                hooks.builtFields.contains(field) || hooks.ownFields[index].contains(field)
                    || unsigned.headerFields.contains(field) && !prepared.contains(field)
            }
        }
        if call.context.bodyVersion > 0 { updateExpectation(in: &request.headerFields, &call) }
        return recipient
    }

    /// Removes the parts that the new recipient must not get, after an interceptor has changed a request.
    /// - Parameters:
    ///   - author: The interceptor whose body the request has; `nil` for the endpoint's body.
    ///   - mayReachThirdParty: Whether a field comes from the endpoint, the client, the pipeline, the receiver or an
    ///     earlier hook of the same interceptor.
    private func confine(
        _ request: inout HTTPRequest, changedFrom before: Draft, by interceptor: Int, _ recipient: inout Recipient,
        _ author: inout Int?, in call: inout CallState, _ mayReachThirdParty: (HTTPField) -> Bool
    ) {
        let isNewBody = call.context.bodyVersion != before.bodyVersion
        let before = (request: before.request, body: before.body)
        // Another spelling of an origin is still the same origin.
        if request.hasSameOrigin(as: before.request) || request.origin == before.request.origin {
            if case .thirdParty(let sender) = recipient, sender != interceptor {
                let changed = request.headerFields
                request.headerFields = before.request.headerFields.filtered { changed.contains($0.name) }
                call.context.outgoing = before.body
            } else if isNewBody {
                author = interceptor
            }
            return
        }
        if isNewBody { author = interceptor }
        let wasTrusted = if case .trusted = recipient { true } else { false }
        recipient = request.origin.map { self.recipient(of: $0) } ?? .thirdParty(sender: nil)
        guard case .thirdParty = recipient else {
            if !wasTrusted { request.headerFields.addMissing(config.headers) }
            return
        }
        recipient = .thirdParty(sender: interceptor)
        let own = call.context.endpoint.headers
        let token = call.context.stamp == nil ? nil : tokens?.scheme.token(in: before.request.headerFields)?.reveal()
        request.headerFields = request.headerFields.filtered { field in
            if before.request.headerFields.contains(field) {
                return mayReachThirdParty(field) && (own.contains(field.name) || !config.headers.contains(field))
            }
            // The interceptor has added the field. It may have written the token in another form.
            return token.map { !field.value.contains($0) } ?? true
        }
        if author != interceptor {
            call.context.outgoing = call.hooks?.builtBody
            author = nil
        }
        if let type = call.body?.contentType, request.headerFields[.contentType] == nil {
            request.headerFields[.contentType] = type
        }
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
    fileprivate func contains(_ field: HTTPField) -> Bool {
        self[fields: field.name].contains(field)
    }

    fileprivate func filtered(_ isIncluded: (HTTPField) -> Bool) -> HTTPFields {
        HTTPFields(filter(isIncluded))
    }

    /// Adds the fields whose names are missing.
    fileprivate mutating func addMissing(_ other: HTTPFields) {
        let names = Set(map(\.name))
        for field in other where !names.contains(field.name) { append(field) }
    }
}
