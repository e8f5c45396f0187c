/// Every response is an envelope with the same members, including errors.
struct EnvelopeRules: DialectRules {
    let refreshEndpoint: RequestPattern = "POST /auth/refresh"

    func success(_ value: JSONValue, status: Int, scope: RequestScope) -> Reply {
        if status == 204 { return .empty() }
        return envelope(status: status, code: "OK", message: "Done.", data: value, scope: scope)
    }

    func failure(_ error: APIError, scope: RequestScope) -> Reply {
        envelope(
            status: error.status, code: error.code, message: error.message, data: .null, errors: error.fieldList,
            scope: scope
        ).with(error.challengeFields())
    }

    func session(_ grant: SessionGrant, _ event: SessionEvent, user: JSONValue, scope: RequestScope) -> Reply {
        var data: JSONValue = ["user": user, "accessToken": .string(grant.accessToken)]
        data.set("refreshToken", grant.refreshToken.map(JSONValue.string))
        return success(data, status: event.status, scope: scope)
    }

    func signedOut(scope: RequestScope) -> Reply {
        success(.null, status: 200, scope: scope)
    }

    private func envelope(
        status: Int, code: String, message: String, data: JSONValue, errors: JSONValue = [], scope: RequestScope
    ) -> Reply {
        let meta: JSONValue = [
            "timestamp": .string(scope.receivedAt.iso8601), "path": .string(scope.path), "requestId": .string(scope.id),
            "durationMs": .integer(scope.elapsedMilliseconds),
        ]
        return .json(
            [
                "success": .bool(status < 400), "code": .string(code), "message": .string(message), "data": data,
                "errors": errors, "meta": meta,
            ], status: status)
    }
}

extension JSONValue {
    /// Adds a member to an object, unless the value is `nil`.
    mutating func set(_ name: String, _ value: JSONValue?) {
        guard case .object(var members) = self, let value else { return }
        members[name] = value
        self = .object(members)
    }
}
