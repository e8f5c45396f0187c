internal import MartletTesting

@testable import Martlet

/// Random documents with one secret under a secret name, among harmless names and values.
///
/// A document is JSON, XML, a form or header fields, and may be a text in another document.
struct RedactionDocuments {
    private var dice: SeededGenerator
    private var secret = ""

    init(seed: UInt64) {
        dice = SeededGenerator(seed: seed)
    }

    /// A random secret with blanks, quotes and marks in it.
    mutating func makeSecret() -> String {
        let marks = Array(" !#$%&'()*+,-./:;<=>?@[]^_{|}~\"\\")
        let letters = Array("abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        var text = String(pick(letters))
        for _ in 0..<(12 + dice.number(below: 12)) {
            text.append(dice.isTrue(inPercent: 25) ? pick(marks) : pick(letters))
        }
        return text + String(pick(letters))
    }

    /// The same document for the same state of the generator, whatever the secret is.
    mutating func makeDocument(with secret: String) -> String {
        self.secret = secret
        return document(depth: dice.number(below: 3))
    }

    private mutating func document(depth: Int) -> String {
        if depth == 0 {
            switch dice.number(below: 4) {
            case 0: return json(nil)
            case 1: return xml(nil)
            case 2: return form()
            default: return fields()
            }
        }
        let inner = document(depth: depth - 1)
        return dice.isTrue(inPercent: 60) ? json(inner) : xml(inner)
    }

    // MARK: JSON

    /// JSON with the secret, or with a document as a string.
    private mutating func json(_ inner: String?) -> String {
        var text = inner.map { quoted($0) } ?? object([secretMember()])
        for _ in 0..<dice.number(below: 3) {
            text = dice.isTrue(inPercent: 70) ? object([member(harmlessName(), text)]) : list([text])
        }
        return blank() + text + blank()
    }

    private mutating func secretMember() -> String {
        switch dice.number(below: 7) {
        case 0: member(secretName(), list([quoted(secret), quoted(harmlessWord())]))
        case 1: member(pick(["password", "client_secret"]), object([member(harmlessName(), quoted(secret))]))
        // An object with the name of a token has names of its own inside.
        case 2: member(pick(["token", "accessToken"]), object([member("value", quoted(secret))]))
        case 3: member("token", object([member(pick(["access", "current"]), quoted(secret))]))
        case 4:
            member("item", object(shuffled([member("name", quoted(secretName())), member("value", quoted(secret))])))
        default: member(secretName(), quoted(secret))
        }
    }

    private mutating func shuffled(_ pair: [String]) -> [String] {
        dice.isTrue(inPercent: 50) ? pair : pair.reversed()
    }

    private mutating func object(_ members: [String]) -> String {
        var members = members
        for _ in 0..<dice.number(below: 3) {
            members.insert(
                member(harmlessName(), quoted(harmlessWord())), at: dice.number(below: members.count + 1))
        }
        return "{" + blank() + members.joined(separator: blank() + "," + blank()) + blank() + "}"
    }

    private mutating func list(_ items: [String]) -> String {
        "[" + blank() + items.joined(separator: blank() + "," + blank()) + blank() + "]"
    }

    private mutating func member(_ name: String, _ value: String) -> String {
        quoted(name) + blank() + ":" + blank() + value
    }

    private mutating func quoted(_ text: String) -> String {
        // No encoder escapes the letters of an escape.
        let isLeaf = !text.contains("\\") && !text.contains("&")
        let escapesMarkup = dice.isTrue(inPercent: 50)
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "/" where dice.isTrue(inPercent: 30): result += "\\/"
            case "<" where escapesMarkup, ">" where escapesMarkup, "&" where escapesMarkup,
                _ where isLeaf && dice.isTrue(inPercent: 3):
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private mutating func blank() -> String {
        guard dice.isTrue(inPercent: 40) else { return "" }
        return String((0...dice.number(below: 4)).map { _ in pick(Array(" \t\r\n")) })
    }

    // MARK: XML

    private mutating func xml(_ inner: String?) -> String {
        let prefix = pick(["", "", "wsse:", "a:"])
        var text: String
        if let inner {
            let name = harmlessName()
            text =
                dice.isTrue(inPercent: 70)
                ? "<\(name)>\(escaped(inner))</\(name)>" : "<\(name) data=\"\(escaped(inner))\"/>"
        } else if dice.isTrue(inPercent: 30) {
            let mark = pick(["\"", "'"])
            text =
                "<\(prefix)user\(space())\(secretName())\(blank())=\(blank())\(mark)\(escaped(secret))\(mark) page='3'>x"
                + "</\(prefix)user>"
        } else if dice.isTrue(inPercent: 30) {
            let attribute = "\(pick(["key", "name"]))=\"\(secretName())\""
            text = "<\(prefix)entry\(space())\(attribute)\(blank())>\(blank())\(content())</\(prefix)entry>"
        } else {
            let name = prefix + secretName()
            let attribute = dice.isTrue(inPercent: 40) ? space() + "Type=\"a:b#c\"" : ""
            text = "<\(name)\(attribute)\(blank())>\(blank())\(content())\(blank())</\(name)>"
        }
        for _ in 0..<dice.number(below: 3) {
            let name = harmlessName()
            text = "<\(name)>\(blank())<b>\(harmlessWord())</b>\(text)\(blank())</\(name)>"
        }
        return text
    }

    /// The secret as the content of an element: as text, with a comment or an element before it, or as a section.
    private mutating func content() -> String {
        switch dice.number(below: 6) {
        case 0 where !secret.contains("]]>"): "<![CDATA[\(secret)]]>"
        case 1: "<!-- </password> -->" + escaped(secret)
        case 2: "<b>" + escaped(secret) + "</b>"
        case 3: escaped(harmlessWord()) + "<![CDATA[ < & ]]>" + escaped(secret)
        default: escaped(secret)
        }
    }

    private mutating func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += dice.isTrue(inPercent: 50) ? "&quot;" : "&#34;"
            case "'": result += dice.isTrue(inPercent: 50) ? "&apos;" : "&#x27;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private mutating func space() -> String { pick([" ", "  ", "\n", "\t "]) }

    // MARK: Forms and header fields

    private mutating func form() -> String {
        let isPlus = dice.isTrue(inPercent: 50)
        let value = PercentEncoding.encode(secret) { PercentEncoding.isUnreserved($0) || isPlus && $0 == 32 }
        var items = [secretName() + "=" + value.replacing(" ", with: "+")]
        for _ in 0..<dice.number(below: 3) {
            items.insert("\(harmlessName())=\(harmlessWord())", at: dice.number(below: items.count + 1))
        }
        return items.joined(separator: "&")
    }

    private mutating func fields() -> String {
        let blanks = pick([" ", "", "  ", "\t"])
        let field =
            switch dice.number(below: 6) {
            case 0: "Authorization:\(blanks)\(pick(["Bearer", "Custom a", "Basic"])) \(secret)"
            case 1: "Cookie:\(blanks)theme=dark; \(harmlessName())=\(secret)"
            case 2: "Set-Cookie:\(blanks)a=\(secret); Path=/"
            case 3: "Password:\(blanks)correct\r\n  \(secret)"
            case 4: "X-Session-Id:\(blanks)\(secret)"
            default: "\(pick(["Password", "x-api-key", "X-Auth-Token", "PASSWORD"])):\(blanks)\(secret)"
            }
        var lines = [field]
        for _ in 0..<dice.number(below: 3) {
            lines.insert("X-\(harmlessName()): \(harmlessWord())", at: dice.number(below: lines.count + 1))
        }
        return "\r\n" + lines.joined(separator: "\r\n") + "\r\n"
    }

    // MARK: Names

    private mutating func secretName() -> String {
        pick(["password", "Password", "new_password", "client_secret", "accessToken", "refresh-token", "apiKey", "pin"])
    }

    private mutating func harmlessName() -> String { pick(["page", "name", "body", "message", "log", "item"]) }

    private mutating func harmlessWord() -> String {
        pick(["Ada", "7", "blue sky", "don't", "it is 5 o'clock", "a,b"])
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[dice.number(below: elements.count)]
    }
}
