/// A header value with parameters, as in `form-data; name="picture"; filename="a.jpg"`.
struct HeaderParameters {
    /// The value before the first semicolon, in lower case.
    let value: String
    private var parameters: [String: String] = [:]

    init(_ text: String) {
        var rest = text[...]
        value = rest.takePrefix { $0 != ";" }.lowercased().trimmingBlanks
        while rest.popFirst() != nil {
            let name = rest.takePrefix { $0 != "=" && $0 != ";" }.lowercased().trimmingBlanks
            guard rest.first == "=" else { continue }
            rest.removeFirst()
            parameters[name] = rest.first == "\"" ? rest.takeQuoted() : rest.takePrefix { $0 != ";" }.trimmingBlanks
            // Whatever stands between a closing quote and the next semicolon belongs to nothing.
            _ = rest.takePrefix { $0 != ";" }
        }
    }

    subscript(name: String) -> String? { parameters[name] }
}

extension Substring {
    fileprivate mutating func takePrefix(while isWanted: (Character) -> Bool) -> Substring {
        let prefix = prefix(while: isWanted)
        self = self[prefix.endIndex...]
        return prefix
    }

    /// Reads a quoted string. Only `\"` and `\\` are escapes: browsers once sent paths with single backslashes.
    fileprivate mutating func takeQuoted() -> String {
        removeFirst()
        var text = ""
        while let character = popFirst(), character != "\"" {
            if character == "\\", let next = first, next == "\"" || next == "\\" {
                text.append(next)
                removeFirst()
            } else {
                text.append(character)
            }
        }
        return text
    }
}
