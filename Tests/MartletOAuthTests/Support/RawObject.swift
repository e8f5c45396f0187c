#if canImport(CryptoKit) || Encryption
    /// A JSON object as text. Its members may be any text, even invalid JSON, and may occur twice.
    struct RawObject: Sendable, ExpressibleByDictionaryLiteral {
        private(set) var members: [(name: String, json: String)]

        init(dictionaryLiteral elements: (String, String)...) {
            members = elements.map { (name: $0.0, json: $0.1) }
        }

        /// The JSON of the first member with a name. Setting it replaces all members with that name; `nil` removes
        /// them.
        subscript(name: String) -> String? {
            get { members.first { $0.name == name }?.json }
            set {
                let index = members.firstIndex { $0.name == name } ?? members.count
                members.removeAll { $0.name == name }
                if let newValue { members.insert((name, newValue), at: min(index, members.count)) }
            }
        }

        /// Adds a member, even if there is one with its name.
        mutating func add(_ name: String, _ json: String) {
            members.append((name, json))
        }

        var text: String { "{" + members.map { "\"\($0.name)\":\($0.json)" }.joined(separator: ",") + "}" }
    }

    /// Converts a text to a JSON string. Only line breaks are escaped.
    func quoted(_ text: String) -> String { "\"\(text.replacing("\n", with: "\\n"))\"" }
#endif
