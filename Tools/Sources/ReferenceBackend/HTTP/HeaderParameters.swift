/// Parses a header value with parameters, as in `form-data; name="picture"; filename="a.jpg"`.
struct HeaderParameters {
    /// The value before the first semicolon, in lowercase.
    let value: String
    private var parameters: [String: String] = [:]

    init(_ text: String) {
        // Unicode scalars, not characters: a quote with a combining accent is one Character that equals no quote.
        var rest = text.unicodeScalars[...]
        value = rest.takePrefix { $0 != ";" }.lowercased().trimmingBlanks
        while rest.popFirst() != nil {
            let name = rest.takePrefix { $0 != "=" && $0 != ";" }.lowercased().trimmingBlanks
            guard rest.first == "=" else { continue }
            rest.removeFirst()
            parameters[name] = rest.first == "\"" ? rest.takeQuoted() : rest.takePrefix { $0 != ";" }.trimmingBlanks
            // Skip any text between the closing quote and the next semicolon.
            _ = rest.takePrefix { $0 != ";" }
        }
    }

    subscript(name: String) -> String? { parameters[name] }
}

extension Substring.UnicodeScalarView {
    fileprivate mutating func takePrefix(while isWanted: (Unicode.Scalar) -> Bool) -> Substring {
        let prefix = prefix(while: isWanted)
        self = self[prefix.endIndex...]
        return Substring(prefix)
    }

    /// Reads a quoted string. Only `\"` and `\\` are escapes, because browsers used to send paths with single
    /// backslashes.
    fileprivate mutating func takeQuoted() -> String {
        removeFirst()
        var text = String.UnicodeScalarView()
        while let scalar = popFirst(), scalar != "\"" {
            if scalar == "\\", let next = first, next == "\"" || next == "\\" {
                text.append(next)
                removeFirst()
            } else {
                text.append(scalar)
            }
        }
        return String(text)
    }
}
