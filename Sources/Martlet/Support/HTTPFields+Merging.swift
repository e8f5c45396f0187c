internal import HTTPTypes

extension HTTPFields {
    /// The header fields of a request: those of the client, then those of the endpoint, which replace all client fields
    /// of the same name, then `accept` if there is no `Accept` yet.
    static func merged(client: HTTPFields, endpoint: HTTPFields, accept: String?) -> HTTPFields {
        var fields = client
        for field in endpoint { fields[field.name] = nil }
        for field in endpoint { fields.append(field) }
        if let accept, !fields.contains(.accept) { fields[.accept] = accept }
        return fields
    }
}
