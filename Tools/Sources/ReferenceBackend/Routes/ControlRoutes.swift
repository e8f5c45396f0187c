import Foundation

extension BackendCore {
    /// Adds the routes of ``BackendControls``.
    func addControlRoutes(to table: inout RouteTable) {
        func add(_ method: String, _ path: String, _ handler: @escaping RouteTable.Handler) {
            table.add(method, "/_control/\(path)", kind: .management, handler)
        }
        add("POST", "expire-access-tokens") { _ in
            try await controls.expireAccessTokens()
            return .empty()
        }
        add("POST", "revoke-sessions") { scope in
            let body = try await scope.json()
            try await controls.revokeSessions(
                userID: body["userId"]?.stringValue,
                includingAccessTokens: body["includingAccessTokens"]?.boolValue ?? false)
            return .empty()
        }
        add("GET", "settings") { _ in .json(controls.settings.json) }
        add("PATCH", "settings") { scope in
            let members = try await scope.json().objectValue ?? [:]
            try controls.update { try $0.apply(members) }
            return .json(controls.settings.json)
        }
        add("GET", "counters") { _ in try counters() }
        add("DELETE", "counters") { _ in
            controls.resetCounters()
            return .empty()
        }
        addFaultRoutes(to: &table)
        addGateRoutes(to: &table)
    }

    private func counters() throws -> Reply {
        .json(try JSONValue(parsing: JSONEncoder().encode(controls.counters)))
    }

    private func addFaultRoutes(to table: inout RouteTable) {
        table.add("GET", "/_control/faults", kind: .management) { _ in
            .json(.array(controls.faultQueue.rules.map { $0.rule.json(id: $0.id) }))
        }
        table.add("POST", "/_control/faults", kind: .management) { scope in
            let rule = try FaultRule(try await scope.json())
            let id = controls.inject(rule)
            return .json(rule.json(id: id), status: 201)
        }
        table.add("DELETE", "/_control/faults", kind: .management) { _ in
            controls.removeFaults()
            return .empty()
        }
        table.add("DELETE", "/_control/faults/{id}", kind: .management) { scope in
            guard let number = Int(try scope.parameter("id")) else { throw APIError.notFound }
            controls.removeFault(FaultID(number: number))
            return .empty()
        }
        table.add("POST", "/_control/release-hangs", kind: .management) { _ in
            controls.releaseHangs()
            return .empty()
        }
    }
}
