internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads one cookie out of `Set-Cookie` fields (RFC 6265, section 4.1).
enum SetCookie {
    static func value(of name: String, in headers: HTTPFields) -> Secret? {
        var result: Secret?
        for field in headers[values: .setCookie] {
            for cookie in separate(field) {
                let pair = cookie.prefix { $0 != ";" }
                guard let equals = pair.firstIndex(of: "=") else { continue }
                let found = pair[..<equals].filter { $0 != " " }
                guard found == name else { continue }
                var value = String(pair[pair.index(after: equals)...])
                while value.first == " " { value.removeFirst() }
                while value.last == " " { value.removeLast() }
                result = Secret(value)
            }
        }
        return result.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// URLSession joins repeated fields with commas, and `Expires` contains a comma too: only a comma that is followed
    /// by a name and an equals sign starts the next cookie.
    static func separate(_ field: String) -> [Substring] {
        var cookies: [Substring] = []
        var start = field.startIndex
        var index = field.startIndex
        while index < field.endIndex {
            if field[index] == "," {
                let rest = field[field.index(after: index)...]
                let name = rest.drop(while: { $0 == " " }).prefix { $0 != "=" && $0 != ";" && $0 != "," && $0 != " " }
                if !name.isEmpty, name.endIndex < field.endIndex, field[name.endIndex] == "=" {
                    cookies.append(field[start..<index])
                    start = field.index(after: index)
                }
            }
            index = field.index(after: index)
        }
        cookies.append(field[start...])
        return cookies.map { $0.drop { $0 == " " } }
    }
}
