internal import HTTPTypes

/// Who gets a request.
enum Recipient: Sendable {
    /// The base URL's origin, or one that the token manager trusts.
    case trusted
    /// Any other origin: the endpoint names it, or the interceptor with this index has sent the request there.
    case thirdParty(sender: Int?)
}

/// Runs the hooks that change requests, and keeps header fields from third parties.
///
/// A third party gets the fields of the endpoint, of the pipeline and of a ``ResponseReceiver``. It gets the fields of
/// an interceptor only if that interceptor has sent the request there, and never those of the client.
extension CallPipeline {
    func recipient(of origin: Origin) -> Recipient {
        let isTrusted = origin == baseURL.origin || tokens?.trustedOrigins.contains(origin) == true
        return isTrusted ? .trusted : .thirdParty(sender: nil)
    }

    func prepare(_ call: inout CallState) async throws {
        for (index, interceptor) in config.interceptors.enumerated() {
            let before = call.request
            try await interceptor.prepare(&call.request, for: &call.context)
            var (request, recipient) = (call.request, call.recipient)
            confine(&request, changedFrom: before, by: index, &recipient, in: call) { call.builtFields.contains($0) }
            (call.request, call.recipient) = (request, recipient)
            call.preparedFields.append(request.headerFields)
        }
    }

    /// - Parameter unsigned: The request of the attempt, without a token.
    /// - Returns: Who gets the adapted request.
    func adapt(
        _ request: inout HTTPRequest, from unsigned: HTTPRequest, _ call: inout CallState
    ) async throws -> Recipient {
        var recipient = call.recipient
        let stages = [call.builtFields] + call.preparedFields
        let prepared = call.request.headerFields
        for (index, interceptor) in config.interceptors.enumerated() {
            let before = request
            try await interceptor.adapt(&request, for: &call.context)
            confine(&request, changedFrom: before, by: index, &recipient, in: call) { field in
                // What the prepared request lacks is from the receiver.
                stages[0].contains(field) || unsigned.headerFields.contains(field) && !prepared.contains(field)
                    || stages[index + 1].contains(field) && !stages[index].contains(field)
            }
        }
        return recipient
    }

    /// The origin of an adapted request. If an interceptor has changed it, the token is removed.
    func origin(
        of request: inout HTTPRequest, adaptedFrom call: inout CallState, _ recipient: Recipient
    ) throws -> Origin {
        guard !request.hasSameOrigin(as: call.request) else { return call.context.origin }
        let target = try origin(of: request)
        guard target != call.context.origin else { return target }
        let fields = request.headerFields
        authorizer?.removeToken(from: &request, for: &call)
        // For a third party the token has been removed already. What the interceptor has put in its place stays.
        if case .thirdParty = recipient { request.headerFields = fields }
        return target
    }

    func origin(of request: HTTPRequest) throws -> Origin {
        let url = "\(request.scheme ?? "https")://\(request.authority ?? "")"
        let origin = try Location.parse(url).get().origin
        guard attemptRunner.allowsInsecureHTTP || !origin.isInsecure else {
            throw Redirect.Refusal.insecure(url: "\(origin)")
        }
        return origin
    }

    /// After an interceptor has changed a request: removes the header fields that the new recipient must not get.
    /// - Parameter mayReachThirdParty: Whether a field comes from the endpoint, the client, the pipeline, the receiver or an earlier
    ///   hook of the same interceptor.
    private func confine(
        _ request: inout HTTPRequest, changedFrom before: HTTPRequest, by interceptor: Int,
        _ recipient: inout Recipient, in call: CallState, _ mayReachThirdParty: (HTTPField) -> Bool
    ) {
        // Another spelling of the same origin is no other origin.
        if request.hasSameOrigin(as: before) || request.origin == before.origin {
            guard case .thirdParty(let sender) = recipient, sender != interceptor else { return }
            let changed = request.headerFields
            request.headerFields = before.headerFields.filtered { changed.contains($0.name) }
            return
        }
        let wasTrusted = if case .trusted = recipient { true } else { false }
        recipient = request.origin.map { self.recipient(of: $0) } ?? .thirdParty(sender: nil)
        guard case .thirdParty = recipient else {
            if !wasTrusted { request.headerFields.addMissing(config.headers) }
            return
        }
        recipient = .thirdParty(sender: interceptor)
        let own = call.context.endpoint.headers
        let token = call.context.stamp == nil ? nil : tokens?.scheme.token(in: before.headerFields)?.reveal()
        request.headerFields = request.headerFields.filtered { field in
            if before.headerFields.contains(field) {
                return mayReachThirdParty(field) && (own.contains(field.name) || !config.headers.contains(field))
            }
            // The interceptor has added the field. It may have written the token in another form.
            return token.map { !field.value.contains($0) } ?? true
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
