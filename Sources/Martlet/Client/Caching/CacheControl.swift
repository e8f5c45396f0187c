internal import HTTPTypes

/// The directives of a `Cache-Control` field (RFC 9111, section 5.2).
struct CacheControl: Sendable {
    private struct Argument {
        /// Whether the directive has no argument.
        let isEmpty: Bool
        /// The number of seconds; `nil` if the argument is none.
        let seconds: Duration?

        init(_ text: String) {
            isEmpty = text.isEmpty
            seconds = CacheControl.seconds(text)
        }
    }

    /// Arguments by the lowercase names of their directives.
    private var arguments: [String: Argument] = [:]

    init(_ fields: HTTPFields) {
        guard let text = fields[.cacheControl] else {
            // HTTP/1.0 servers know only `Pragma` (section 5.4).
            if let name = HTTPField.Name("Pragma"), fields[name]?.lowercased().contains("no-cache") == true {
                arguments["no-cache"] = Argument("")
            }
            return
        }
        var rest = text[...]
        while !rest.isEmpty {
            let name = rest.prefix { $0 != "," && $0 != "=" }
            rest = rest[name.endIndex...]
            var argument = ""
            if rest.first == "=" {
                rest = rest.dropFirst()
                argument = rest.first == "\"" ? Self.quoted(&rest) : String(rest.prefix { $0 != "," })
            }
            rest = rest.drop { $0 != "," }.dropFirst()
            add(name.trimmingBlanks.lowercased(), argument[...].trimmingBlanks)
        }
    }

    func contains(_ name: String) -> Bool { arguments[name] != nil }

    /// The argument as a number of seconds; `nil` if the directive is missing. An invalid argument counts as zero
    /// (section 4.2.1).
    func duration(_ name: String) -> Duration? {
        arguments[name].map { $0.seconds ?? .zero }
    }

    /// `max-stale` without an argument accepts every age.
    var maximumStaleness: Duration? {
        arguments["max-stale"]?.isEmpty == true ? .seconds(Int.max >> 32) : duration("max-stale")
    }

    /// Parses a number of seconds (section 1.2.2). A number that is too large counts as 2^31. Returns `nil` for
    /// anything but digits.
    static func seconds(_ text: String) -> Duration? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return .seconds(min(Int(text) ?? .max, 1 << 31))
    }

    /// If a directive occurs twice, the stricter one counts.
    private mutating func add(_ name: String, _ argument: String) {
        guard !name.isEmpty else { return }
        let argument = Argument(argument)
        if let earlier = arguments[name], (earlier.seconds ?? .zero) <= (argument.seconds ?? .zero) { return }
        arguments[name] = argument
    }

    /// Reads a quoted string (RFC 9110, section 5.6.4).
    private static func quoted(_ rest: inout Substring) -> String {
        var text = ""
        rest = rest.dropFirst()
        while let character = rest.popFirst(), character != "\"" {
            text.append(character == "\\" ? rest.popFirst() ?? character : character)
        }
        return text
    }
}
