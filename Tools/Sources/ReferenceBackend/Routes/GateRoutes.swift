extension BackendCore {
    func addGateRoutes(to table: inout RouteTable) {
        table.add("POST", "/_control/hold", kind: .management) { scope in
            let body = try await scope.json()
            let pattern = try Self.pattern(path: body["path"]?.stringValue, method: body["method"]?.stringValue)
            guard let stage = RequestGate.Stage(rawValue: body["stage"]?.stringValue ?? "arrival") else {
                throw APIError.malformed("stage must be arrival or response.")
            }
            return .json(controls.holdRequests(pattern, at: stage).json, status: 201)
        }
        table.add("GET", "/_control/hold", kind: .management) { _ in
            .json(.array(controls.requestGates.gates.map(\.json)))
        }
        table.add("POST", "/_control/release", kind: .management) { scope in
            let path = try await scope.json()["path"]?.stringValue
            for gate in controls.requestGates.gates where path == nil || gate.pattern.path == path { gate.release() }
            return .empty()
        }
        table.add("GET", "/_control/wait", kind: .management, waitForRequests)
    }

    /// Responds once enough requests have arrived, or with 504 after `timeoutMs`.
    private func waitForRequests(_ scope: RequestScope) async throws -> Reply {
        let pattern = try Self.pattern(path: scope.query["path"], method: scope.query["method"])
        let count = scope.query.integer("count") ?? 1
        let timeout = Duration.milliseconds(scope.query.integer("timeoutMs") ?? 10_000)
        let isSatisfied = await withTaskGroup { group in
            group.addTask { (try? await controls.waitUntil(pattern, count: count)) != nil }
            group.addTask {
                try? await Task.sleep(for: timeout)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        return .json(["count": .integer(controls.arrivalCount(pattern))], status: isSatisfied ? 200 : 504)
    }

    private static func pattern(path: String?, method: String?) throws -> RequestPattern {
        guard let path else { throw APIError.malformed("The path is missing.") }
        return RequestPattern(method: method, path: path)
    }
}

extension RequestGate {
    fileprivate var json: JSONValue {
        [
            "path": .string(pattern.path), "method": JSONValue(pattern.method), "stage": .string(stage.rawValue),
            "held": .integer(heldCount),
        ]
    }
}
