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
            let pair = field.prefix { $0 != ";" }
            guard let equals = pair.firstIndex(of: "=") else { continue }
            let found = pair[..<equals].filter { $0 != " " }
            guard found == name, !isDeletion(field, in: headers) else { continue }
            var value = String(pair[pair.index(after: equals)...])
            while value.first == " " { value.removeFirst() }
            while value.last == " " { value.removeLast() }
            if !value.isEmpty { result = Secret(value) }
        }
        return result.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether a field deletes a cookie, perhaps one of another path or domain (RFC 6265, section 5.3, step 11).
    private static func isDeletion(_ field: String, in headers: HTTPFields) -> Bool {
        let now = headers[.date].flatMap(HTTPDate.parse) ?? Date(timeIntervalSince1970: 366 * 86_400)
        var (age, expires): (Substring?, Substring?)
        for part in field.split(separator: ";").dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            switch pair[0].trimmingBlanks.lowercased() {
            case "max-age": age = pair[1]
            case "expires": expires = pair[1]
            default: break
            }
        }
        if let age = age?.trimmingBlanks, let seconds = Int(age) { return seconds <= 0 }
        return expires.flatMap(CookieDate.parse).map { $0 <= now } ?? false
    }

    /// Splits a field that `URLSession` has joined from several with a comma and a space. `Expires` contains these too,
    /// so the next cookie starts only where a name and an equals sign follow. A cookie's value has no space after a
    /// comma (RFC 6265, section 4.1.1).
    static func separated(_ field: String) -> [Substring] {
        var cookies: [Substring] = []
        var start = field.startIndex
        var index = field.startIndex
        while let comma = field[index...].firstIndex(of: ",") {
            index = field.index(after: comma)
            let rest = field[index...]
            let name = rest.drop { $0 == " " }.prefix { $0 != "=" && $0 != ";" && $0 != "," && $0 != " " }
            guard rest.first == " ", !name.isEmpty, name.endIndex < field.endIndex, field[name.endIndex] == "="
            else { continue }
            cookies.append(field[start..<comma])
            start = index
        }
        cookies.append(field[start...])
        return cookies.map { $0.drop { $0 == " " } }
    }
}
