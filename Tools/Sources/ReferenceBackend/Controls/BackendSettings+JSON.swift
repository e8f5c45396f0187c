extension BackendSettings {
    /// The settings as returned by `GET /_control/settings`, with durations in seconds.
    var json: JSONValue {
        [
            "accessTokenLifetime": .number(accessTokenLifetime.inSeconds),
            "refreshTokenLifetime": .number(refreshTokenLifetime.inSeconds),
            "rotationGrace": .number(rotationGrace.inSeconds),
            "dateOffset": .number(dateOffset.inSeconds),
            "rejectAllAccessTokens": .bool(rejectAllAccessTokens),
            "refreshTokenRejected": .bool(refreshTokenRejected),
            "omitRefreshToken": .bool(omitRefreshToken),
            "opaqueAccessTokens": .bool(opaqueAccessTokens),
            "jwtExpiryInMilliseconds": .bool(jwtExpiryInMilliseconds),
            "authenticatesAfterBody": .bool(authenticatesAfterBody),
            "expiresIn": expiresIn.json,
        ]
    }

    /// Changes the named settings. Throws if a name is unknown or a value is invalid.
    mutating func apply(_ members: [String: JSONValue]) throws {
        for (name, value) in members {
            if let path = Self.durations[name] {
                guard let seconds = value.doubleValue, abs(seconds) < 1e11 else {
                    throw APIError.malformed("\(name) must be a number of seconds.")
                }
                self[keyPath: path] = .milliseconds(Int64((seconds * 1000).rounded()))
            } else if let path = Self.flags[name] {
                guard let flag = value.boolValue else { throw APIError.malformed("\(name) must be a boolean.") }
                self[keyPath: path] = flag
            } else if name == "expiresIn" {
                expiresIn = ExpiresIn(value)
            } else {
                throw APIError.malformed("There is no setting named \(name).")
            }
        }
    }

    private static var durations: [String: WritableKeyPath<BackendSettings, Duration>] {
        [
            "accessTokenLifetime": \.accessTokenLifetime, "refreshTokenLifetime": \.refreshTokenLifetime,
            "rotationGrace": \.rotationGrace, "dateOffset": \.dateOffset,
        ]
    }

    private static var flags: [String: WritableKeyPath<BackendSettings, Bool>] {
        [
            "rejectAllAccessTokens": \.rejectAllAccessTokens, "refreshTokenRejected": \.refreshTokenRejected,
            "omitRefreshToken": \.omitRefreshToken, "opaqueAccessTokens": \.opaqueAccessTokens,
            "jwtExpiryInMilliseconds": \.jwtExpiryInMilliseconds, "authenticatesAfterBody": \.authenticatesAfterBody,
        ]
    }
}

extension BackendSettings.ExpiresIn {
    /// `null` means the actual lifetime, `"absent"` means no member.
    fileprivate init(_ value: JSONValue) {
        switch value {
        case .null: self = .actual
        case "absent": self = .absent
        default: self = .verbatim(value)
        }
    }

    fileprivate var json: JSONValue {
        switch self {
        case .actual: .null
        case .absent: "absent"
        case .verbatim(let value): value
        }
    }
}
