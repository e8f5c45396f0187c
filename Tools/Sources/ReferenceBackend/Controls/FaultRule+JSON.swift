extension FaultRule {
    /// Parses the body of `POST /_control/faults`.
    init(_ json: JSONValue) throws {
        guard let path = json["path"]?.stringValue else { throw APIError.malformed("A fault must have a path.") }
        let pattern = RequestPattern(method: json["method"]?.stringValue, path: path)
        self.init(
            pattern, try Action(json), times: try Self.times(json["times"]), after: json["after"]?.integerValue ?? 0,
            delay: .milliseconds(json["delayMs"]?.integerValue ?? 0), readsBody: json["readsBody"]?.boolValue ?? false)
    }

    private static func times(_ value: JSONValue?) throws -> Int? {
        switch value {
        case nil: return 1
        case .null, "unlimited": return nil
        case let value?:
            guard let times = value.integerValue, times > 0 else {
                throw APIError.malformed("times must be a positive number or \"unlimited\".")
            }
            return times
        }
    }

    /// The rule as returned by `GET /_control/faults`.
    func json(id: FaultID) -> JSONValue {
        var members: [String: JSONValue] = [
            "id": .integer(id.number), "path": .string(pattern.path),
            "times": times.map(JSONValue.integer) ?? "unlimited",
            "after": .integer(after), "delayMs": .integer(Int(delay.wholeMilliseconds)), "readsBody": .bool(readsBody),
        ]
        if let method = pattern.method { members["method"] = .string(method) }
        return .object(members.merging(action.members) { $1 })
    }
}

extension FaultRule.Action {
    fileprivate init(_ json: JSONValue) throws {
        func has(_ flag: String) -> Bool { json[flag]?.boolValue == true }
        let response = try FaultRule.Response(json)
        self =
            switch () {
            case _ where has("hang"): .hang
            case _ where has("dropConnectionBefore"): .dropConnection
            case _ where has("dropConnectionAfterCommit"): .commitThenDropConnection
            default: response.map { has("commitFirst") ? .commitThenRespond($0) : .respond($0) } ?? .proceed
            }
    }

    fileprivate var members: [String: JSONValue] {
        switch self {
        case .proceed: [:]
        case .respond(let response): response.members
        case .commitThenRespond(let response): response.members.merging(["commitFirst": true]) { $1 }
        case .dropConnection: ["dropConnectionBefore": true]
        case .commitThenDropConnection: ["dropConnectionAfterCommit": true]
        case .hang: ["hang": true]
        }
    }
}

extension FaultRule.Response {
    fileprivate init?(_ json: JSONValue) throws {
        var headers: [String: String] = [:]
        for (name, value) in json["headers"]?.objectValue ?? [:] { headers[name] = value.stringValue ?? value.jsonText }
        let status = json["status"]?.integerValue
        if let status, !(200...599).contains(status) { throw APIError.malformed("status must be between 200 and 599.") }
        if let location = json["redirectTo"]?.stringValue {
            self = .redirect(to: location, status: status ?? 302)
            self.headers.merge(headers) { $1 }
        } else if let status {
            let body = json["body"].map { $0.stringValue ?? $0.jsonText }
            self.init(
                status, headers: headers, body: body,
                contentType: json["contentType"]?.stringValue ?? "application/json")
        } else {
            return nil
        }
    }

    fileprivate var members: [String: JSONValue] {
        [
            "status": .integer(status), "headers": .object(headers.mapValues(JSONValue.string)),
            "body": JSONValue(body), "contentType": .string(contentType),
        ]
    }
}
