#if canImport(Darwin)
    internal import Foundation
#endif

extension Wording {
    /// The text in the user's language with its placeholders filled in; English on platforms without a string
    /// catalogue.
    func text(_ arguments: String...) -> String {
        Self.fill(localized, with: arguments)
    }

    #if canImport(Darwin)
        private var localized: String {
            Bundle.module.localizedString(forKey: rawValue, value: rawValue, table: nil)
        }
    #else
        private var localized: String { rawValue }
    #endif

    /// Replaces placeholders such as `%1$@` with arguments, and `%%` with `%`.
    static func fill(_ text: String, with arguments: [String]) -> String {
        var result = ""
        var rest = text[...]
        while let sign = rest.firstIndex(of: "%") {
            result += rest[..<sign]
            rest = rest[rest.index(after: sign)...]
            let number = rest.prefix { $0.isNumber }
            if rest.first == "%" {
                result += "%"
                rest = rest.dropFirst()
            } else if let position = Int(number), arguments.indices.contains(position - 1),
                rest.dropFirst(number.count).hasPrefix("$@")
            {
                result += arguments[position - 1]
                rest = rest.dropFirst(number.count + 2)
            } else {
                result += "%"
            }
        }
        return result + rest
    }
}
