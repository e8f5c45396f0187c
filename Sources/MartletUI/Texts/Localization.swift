#if canImport(Darwin)
    internal import Foundation
#endif

extension Wording {
    /// The text in the person's language, with what is to be put in; in English where there is no catalogue.
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

    /// Puts arguments in the place of `%1$@` and its like, in any order, and `%` in the place of `%%`.
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
