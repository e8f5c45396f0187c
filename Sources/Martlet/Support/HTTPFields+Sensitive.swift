public import HTTPTypes

extension HTTPFields {
    /// Sets a field whose value is secret. Observers see it masked, and it never follows a redirect to another origin.
    /// HTTP/2 marks it as never indexed (RFC 7541, section 7.1.3).
    public mutating func setSensitive(_ value: String, for name: HTTPField.Name) {
        self[fields: name] = [.sensitive(value, for: name)]
    }
}

extension HTTPFields {
    /// The fields that may identify a user.
    var credentials: [HTTPField] {
        filter(\.isSensitive)
    }
}

extension HTTPField {
    /// Whether the app has marked the field, its name announces a secret, or its value contains one, such as a JWT.
    package var isSensitive: Bool {
        indexingStrategy == .disallow || Redaction.isSensitive(headerName: name.rawName)
            || Redaction.redactFieldValue(value) != value
    }

    static func sensitive(_ value: String, for name: HTTPField.Name) -> HTTPField {
        var field = HTTPField(name: name, value: value)
        field.indexingStrategy = .disallow
        return field
    }
}
