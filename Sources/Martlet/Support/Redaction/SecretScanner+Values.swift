/// Values after secret names.
extension SecretScanner {
    /// The text between a name and its value.
    struct Separator {
        /// The index of the value.
        var end: Int
        /// A colon or an equals sign.
        var mark: UInt8
        var reader = Reader.secret
        /// The quotation mark that closes the name.
        var nameQuote: Quote?
        var hasBlanks = false
        /// Whether a line break follows the mark.
        var hasLineBreak = false
        /// Whether the element with the name has ended.
        var leftElement = false
        /// The element that contains the value.
        var element: Tag?
        /// Whether a bracket follows the name.
        var isIndexed = false
        /// The indexes of the first subscript, and of the first one after the quotation mark that closes the name.
        var subscripts: (first: Int?, quoted: Int?)

        /// Whether a byte may be part of the separator: emphasis, or the parenthesis of `AnyHashable("password"): "…"`.
        func allows(_ byte: UInt8) -> Bool {
            "\\*`".utf8.contains(byte) || byte == UInt8(ascii: ")") && mark == 0 && nameQuote != nil
        }
    }

    /// The purpose of reading a separator.
    enum Reader: Int {
        /// To mask the value after the name of a secret.
        case secret
        /// To remember a value whose name may follow it.
        case unnamedValue
        /// To tell a name in angle brackets from an element.
        case tag
        /// To find a list of header fields.
        case fieldList
    }

    /// Masks the value of the name that ends at the index.
    mutating func maskValue(of name: Name) {
        guard let separator = separator(after: index) else {
            if name.kind != .member, name.kind != .words { notePair(of: name) }
            return
        }
        let start = separator.end
        guard start < bytes.count, announcesValue(name, separator) else { return }
        if let element = separator.element { return mask(start..<endOfElement(element, from: start), after: start) }
        let first = symbol(at: start)
        let isField = separator.nameQuote == nil && startsField(name, separator)
        let quote = separator.nameQuote
        switch first.byte {
        case let byte where byte.isQuote:
            maskText(of: name, from: start, isField: isField)
        case UInt8(ascii: "{") where name.kind.isObject && !holdsWord(at: start):
            // The values in the object have names of their own.
            pass(to: start)
            enterTokenObject()
        case UInt8(ascii: "[") where name.kind == .words:
            // Words of prose are harmless, and the objects in the list have names inside.
            pass(to: start)
            enterTokenObject()
        case UInt8(ascii: "{"), UInt8(ascii: "["),
            UInt8(ascii: "(") where first.byte != 40 || opensList(at: start):
            maskStructure(of: name, from: start, isField: isField, within: quote)
        case UInt8(ascii: "<") where isMask(at: start) && endsValue(at: start + Redaction.mask.utf8.count):
            pass(to: start)
        case _ where name.kind.allowsNumber && endOfNumber(from: start) != nil: pass(to: start)
        case UInt8(ascii: "<") where !isField && isWord(at: start + first.length) && !isMask(at: start):
            mask(start..<endOfMarkup(from: start), after: start)
        case _ where separator.hasLineBreak && quote == nil:
            guard isContinuation(of: name, at: start) || isOnlyWord(from: start) else { return }
            mask(start..<endOfField(name, from: start), after: start)
        case _ where isField:
            let content = name.kind == .authorization ? endOfScheme(from: start) : start
            mask(content..<endOfField(name, from: start), after: content)
        default:
            maskWords(of: name, from: start, after: separator)
        }
    }

    /// Whether a value follows a name and its separator, and not, say, a status or a sentence.
    private mutating func announcesValue(_ name: Name, _ separator: Separator) -> Bool {
        let isQuoted = separator.nameQuote != nil
        let isPair = isQuoted || separator.mark == UInt8(ascii: "=")
        if isPair { return name.kind != .member || isQuoted || quotes.count == tokenObject?.quotes }
        if name.isPath { return false }
        switch name.kind {
        case .member: return quotes.count == tokenObject?.quotes
        case .session: return name.startsField || symbol(at: separator.end).byte.isQuote
        // A number or a word of a sentence may follow.
        case .words: return "[{\"'".utf8.contains(byte(at: separator.end))
        default: return true
        }
    }

    /// Masks a value in quotes.
    mutating func maskText(of name: Name, from start: Int, isField: Bool) {
        pass(to: start)
        let opening = symbol(at: start)
        let content = start + opening.length
        let end = endOfText(opening, from: content)
        // Mask the text up to `end`, which has been read: another name in it must not read it again.
        if isField, end < bytes.count, !endsValue(at: end + symbol(at: end).length) {
            mask(start..<endOfField(name, from: end), after: start)
        } else if end < bytes.count, byte(at: end - 1) == UInt8(ascii: "="), byte(at: content) == UInt8(ascii: "<") {
            // The quotation mark of an attribute: Laravel shows `"<span title="7 characters">…</span>"`.
            mask(content..<endOfMarkup(from: end), after: content)
        } else {
            mask(content..<end, after: content)
        }
    }

    /// Masks a list or an object.
    private mutating func maskStructure(of name: Name, from start: Int, isField: Bool, within quote: Quote?) {
        pass(to: start)
        var end = endOfStructure(from: start, within: quote)
        if !endsValue(at: end) { end = isField ? endOfField(name, from: end) : endOfWord(from: end) }
        mask(start..<end, after: start)
    }

    /// Whether the braces at an index hold one word, as in `token={…}`, and no members.
    private mutating func holdsWord(at start: Int) -> Bool {
        let first = start + symbol(at: start).length
        var end = first
        var symbol = symbol(at: end)
        while symbol.byte.isTokenCharacter {
            end += symbol.length
            symbol = self.symbol(at: end)
        }
        return end > first && symbol.byte == UInt8(ascii: "}")
    }

    /// Whether a parenthesis opens a list of lines, as in the description of an `NSDictionary`.
    private mutating func opensList(at start: Int) -> Bool {
        let next = skipBlanks(from: start + 1, acrossLines: false)
        return next < bytes.count && symbol(at: next).byte.isLineBreak
    }

    /// The index after a number that is a whole value; `nil` if there is another value.
    private mutating func endOfNumber(from start: Int) -> Int? {
        var index = start
        while byte(at: index).isDigit || "-+.".utf8.contains(byte(at: index)) { index += 1 }
        return index > start && (endsValue(at: index) || symbol(at: index).byte.isBlank) ? index : nil
    }

    /// Reads what separates a name from its value: quotes, white space, marks and the end of an element.
    mutating func separator(after start: Int, for reader: Reader = .secret) -> Separator? {
        var separator = Separator(end: start, mark: 0, reader: reader)
        let hasValue = readSeparator(&separator)
        if let first = separator.subscripts.first { readSubscripts[reader.rawValue].first = first..<separator.end }
        if let quoted = separator.subscripts.quoted { readSubscripts[reader.rawValue].quoted = quoted..<separator.end }
        return hasValue ? separator : nil
    }

    private mutating func readSeparator(_ separator: inout Separator) -> Bool {
        scan: while separator.end < bytes.count {
            let symbol = symbol(at: separator.end)
            let hasMark = separator.mark != 0
            switch symbol.byte {
            case UInt8(ascii: "<"):
                // Without a closing tag, the value starts here.
                guard passMarkup(in: &separator) else { break scan }
                if separator.element != nil { return true }
                continue
            case let byte where byte.isQuote:
                if hasMark {
                    let next = markAfterName(symbol, separator)
                    guard next == UInt8(ascii: ":") || next == UInt8(ascii: "=") else {
                        // The opening quote of the value: the next quote ends it, even if the value is empty.
                        return !",}]".utf8.contains(next) && !endsAttribute(symbol, separator)
                    }
                    separator.mark = 0
                }
                separator.nameQuote = Quote(mark: byte, level: symbol.level)
            case UInt8(ascii: ":"), UInt8(ascii: "="):
                if separator.isIndexed, separator.nameQuote == nil, symbol.byte == UInt8(ascii: ":") { return false }
                separator.mark = symbol.byte
            case let byte where byte.isBlank:
                separator.hasBlanks = true
                if hasMark, byte.isLineBreak { separator.hasLineBreak = true }
            case UInt8(ascii: "]") where !hasMark, UInt8(ascii: "[") where !hasMark:
                guard pass(symbol, in: &separator) else { return false }
                continue
            // As in `"password" => "…"`.
            case UInt8(ascii: ">") where separator.mark == UInt8(ascii: "="):
                guard isArrow(symbol, after: separator) else { break scan }
            default:
                if passMarks(in: &separator, from: symbol.byte) { continue }
                guard separator.allows(symbol.byte) else { break scan }
            }
            separator.end += symbol.length
        }
        return separator.mark != 0
    }

    /// Whether an angle bracket after an equals sign belongs to an arrow, and does not end the tag around the index. In
    /// `#<Client @opts={:password=>"…"}>`, there is no tag.
    private mutating func isArrow(_ bracket: Symbol, after separator: Separator) -> Bool {
        guard byte(at: separator.end - 1) == UInt8(ascii: "=") else { return false }
        guard let tag, tag.matches(bracket) else { return true }
        if tag.isSecret { return false }
        return separator.nameQuote != nil || symbol(at: skipBlanks(from: separator.end + bracket.length)).byte.isQuote
    }

    /// The mark after a quotation mark that closes the text with a name, as in `"Password:": "…"`; 0 if the quotation
    /// mark may open a value.
    private mutating func markAfterName(_ quote: Symbol, _ separator: Separator) -> UInt8 {
        guard separator.nameQuote == nil, closesText(quote) else { return 0 }
        return symbol(at: skipBlanks(from: separator.end + quote.length)).byte
    }

    /// Whether a quotation mark closes the text with a name, and another attribute or the end of the tag follows, as in
    /// `<input placeholder="Password:" value="…">` and `msg="no token:" password="…"`.
    private mutating func endsAttribute(_ quote: Symbol, _ separator: Separator) -> Bool {
        guard separator.nameQuote == nil, closesText(quote) else { return false }
        let close = separator.end + quote.length
        let start = skipBlanks(from: close)
        var end = start
        while end < min(start + Self.lookAhead, bytes.count) {
            let symbol = symbol(at: end)
            guard symbol.byte.isLetter || symbol.byte.isDigit || "-_.:".utf8.contains(symbol.byte) else { break }
            end += symbol.length
        }
        guard end == start else { return start > close && symbol(at: end).byte == UInt8(ascii: "=") }
        return tag != nil && "/>".utf8.contains(symbol(at: start).byte)
    }

    private func closesText(_ quote: Symbol) -> Bool {
        quotes.last.map { $0.mark == quote.byte && quote.level <= $0.level } ?? false
    }

    /// Reads marks and words between a name and the end of its text, as in `"Password (again)": "…"`.
    private mutating func passMarks(in separator: inout Separator, from first: UInt8) -> Bool {
        guard !separator.allows(first), separator.mark == 0, separator.nameQuote == nil,
            let end = closingQuote(from: separator.end)
        else { return false }
        let next = symbol(at: skipBlanks(from: end + symbol(at: end).length)).byte
        guard next == UInt8(ascii: ":") || next == UInt8(ascii: "=") else { return false }
        separator.end = end
        return true
    }

    /// The index of the quotation mark that closes the text around the index, if only marks, white space and words in
    /// parentheses precede it; otherwise `nil`.
    mutating func closingQuote(from start: Int) -> Int? {
        guard !quotes.isEmpty else { return nil }
        var (index, isInside, last) = (start, false, UInt8(0))
        while index < min(start + Self.lookAhead, bytes.count) {
            let symbol = symbol(at: index)
            if symbol.byte.isQuote { return closesText(symbol) ? index : nil }
            switch symbol.byte {
            // A name in the parentheses must not read further than one before them.
            case UInt8(ascii: "("):
                if isInside { return nil }
                isInside = true
            case UInt8(ascii: ")"): isInside = false
            case let byte where byte.isBlank:
                // A line break that is no escape ends the text.
                guard !byte.isLineBreak || symbol.isEscape else { return nil }
            // Digits or capitals within a word may be a token, which must not be passed.
            case let byte where isInside:
                guard byte.isSmallLetter || byte >= 0x80 || byte.isCapital && !last.isLetter else { return nil }
            default: guard "?!#*:;.,".utf8.contains(symbol.byte) else { return nil }
            }
            (index, last) = (index + symbol.length, symbol.byte)
        }
        return nil
    }

    /// Reads the closing tag of an element with a name, as in `<b>Password:</b> …`, and the start tag of an element
    /// with its value. After a colon, that may be any element: `<dt>Password:</dt><dd>…</dd>`.
    private mutating func passMarkup(in separator: inout Separator) -> Bool {
        guard let end = endOfClosingTag(at: separator.end) else { return false }
        separator.end = endOfComment(at: skipBlanks(from: end))
        let mayBeAny = separator.mark != 0 && !separator.leftElement
        separator.leftElement = true
        if let (element, end) = valueTag(at: separator.end, ofAnyName: mayBeAny) {
            separator = Separator(end: end, mark: UInt8(ascii: "="), element: element)
        }
        return true
    }

    /// Reads the bracket that closes a name, as in `user[password]=` and `<name><![CDATA[password]]></name>`, or a
    /// subscript.
    /// - Returns: Whether the separator may continue after it.
    private mutating func pass(_ bracket: Symbol, in separator: inout Separator) -> Bool {
        let start = separator.end
        separator.isIndexed = true
        if bracket.byte == UInt8(ascii: "]") {
            separator.end = endOfSectionMark(at: start) ?? start + bracket.length
            return true
        }
        // An earlier name in front of the same subscripts has read them, and there was nothing to mask.
        let isQuoted = separator.nameQuote != nil
        let read = readSubscripts[separator.reader.rawValue]
        guard !(isQuoted ? read.quoted : read.first).contains(start) else { return false }
        separator.subscripts.first = separator.subscripts.first ?? start
        if isQuoted { separator.subscripts.quoted = separator.subscripts.quoted ?? start }
        guard let end = endOfIndex(at: start) else { return false }
        separator.end = end
        return true
    }

    /// The index after the subscript of a name, as in `password[]` and `password[0]`; `nil` if there is other text.
    ///
    /// The name of another secret ends the search, because it starts its own.
    private mutating func endOfIndex(at start: Int) -> Int? {
        var letters = Redaction.NameLetters()
        var index = start + symbol(at: start).length
        var symbol = symbol(at: index)
        while symbol.byte.isTokenCharacter || symbol.byte.isQuote {
            letters.append(symbol.byte)
            index += symbol.length
            symbol = self.symbol(at: index)
        }
        guard symbol.byte == UInt8(ascii: "]"), Redaction.kind(of: letters) == nil else { return nil }
        return index + symbol.length
    }

    /// Masks a range, unless it is a literal.
    mutating func maskUnlessLiteral(_ range: Range<Int>) {
        steps += range.count
        guard !Self.isLiteral(bytes[range]) else {
            index = range.upperBound
            return
        }
        replace(range)
    }

    /// Whether a string is empty or a literal such as `null`, so that there is no secret.
    static func isLiteral(_ bytes: ArraySlice<UInt8>) -> Bool {
        var text = bytes.drop(while: \.isBlank)
        while let last = text.last, last.isBlank { text.removeLast() }
        return text.isEmpty || literals.contains { text.elementsEqual($0) }
    }

    private static let literals = ["null", "true", "false", "[]", "{}", Redaction.mask].map { Array($0.utf8) }

    private mutating func mask(_ range: Range<Int>, after start: Int) {
        pass(to: start)
        maskUnlessLiteral(range)
    }

    /// Masks one word, or the words and pairs that belong to credentials and cookies.
    private mutating func maskWords(of name: Name, from start: Int, after separator: Separator) {
        pass(to: start)
        var (content, end) = (start, endOfWord(from: start))
        if name.kind == .cookie {
            while let next = startOfPair(from: end) { end = endOfWord(from: next) }
        } else if end < bytes.count, !isMask(at: start) {
            let scheme = endOfScheme(from: start)
            let next = skipBlanks(from: end, acrossLines: false)
            if name.kind == .authorization || scheme > start, next > end { end = endOfWord(from: next) }
            content = scheme
            end = endOfMember(from: end, isQuoted: separator.nameQuote != nil)
        }
        mask(content..<max(end, content), after: content)
    }

    /// The end of a value that continues after a word: `string(9) "a b"`, `String = "a b"`, `new String("a b")`.
    ///
    /// After a name in quotes, the value reaches to the next mark, because it is not prose.
    private mutating func endOfMember(from start: Int, isQuoted: Bool) -> Int {
        var end = start
        while end < bytes.count {
            var next = skipBlanks(from: end, acrossLines: false)
            if next > end, byte(at: next) == UInt8(ascii: "=") { next = skipBlanks(from: next + 1, acrossLines: false) }
            let first = symbol(at: next)
            guard next > end, next < bytes.count, !first.byte.isBlank, !",;}])>&|<".utf8.contains(first.byte)
            else { break }
            if first.byte.isQuote {
                if let quote = quotes.last, quote.mark == first.byte, first.level <= quote.level { break }
                let last = endOfText(first, from: next + first.length)
                end = last + (last < bytes.count ? symbol(at: last).length : 0)
                // Text that directly follows is part of the value, as it is after a mask.
                if !endsValue(at: end) { end = endOfWord(from: end) }
            } else {
                guard isQuoted else { break }
                end = endOfWord(from: next)
            }
        }
        return end
    }

    /// The index after the name of a known scheme and the white space after it; `start` if there is none.
    private mutating func endOfScheme(from start: Int) -> Int {
        var end = start
        while byte(at: end).isLetter, end - start < 8 { end += 1 }
        let scheme = bytes[start..<end].map(\.lowercased)
        let content = skipBlanks(from: end, acrossLines: false)
        guard content > end, content < bytes.count, Redaction.schemes.contains(scheme) else { return start }
        return symbol(at: content).byte.isBlank ? start : content
    }

    /// The start of the next pair of a cookie, after `; `.
    private mutating func startOfPair(from end: Int) -> Int? {
        guard byte(at: end) == UInt8(ascii: ";") else { return nil }
        let start = skipBlanks(from: end + 1, acrossLines: false)
        return start > end + 1 && start < bytes.count && !symbol(at: start).byte.isBlank ? start : nil
    }
}

// MARK: - Header fields

extension SecretScanner {
    /// Whether the value of a name reaches to the end of the line.
    mutating func startsField(_ name: Name, _ separator: Separator) -> Bool {
        if separator.mark == UInt8(ascii: "=") {
            return name.startsField && separator.hasBlanks && quotes.isEmpty && tag == nil
        }
        return name.startsField || name.kind == .cookie || name.kind == .authorization
    }

    /// The end of a field's value: the end of its line, or that of the quoted text around it.
    private mutating func endOfField(_ name: Name, from start: Int) -> Int {
        let quote = quotes.last
        var index = start
        while index < bytes.count {
            if isMask(at: index) {
                index += Redaction.mask.utf8.count
                continue
            }
            let symbol = symbol(at: index)
            if let quote, symbol.byte == quote.mark, symbol.level <= quote.level { break }
            if symbol.byte.isLineBreak, isBlank(symbol) {
                guard let next = continuation(of: name, from: index) else { break }
                index = next
                continue
            }
            if !name.startsField, isClosingTag(symbol, at: index) { break }
            index += symbol.length
        }
        return index
    }

    /// The start of the text on the next line, if it is indented further than the name and so continues the value.
    private mutating func continuation(of name: Name, from end: Int) -> Int? {
        guard name.startsField else { return nil }
        var first = symbol(at: end)
        var start = end + first.length
        if first.byte == UInt8(ascii: "\r") {
            first = symbol(at: start)
            if first.byte == UInt8(ascii: "\n") { start += first.length }
        }
        let text = skipBlanks(from: start, acrossLines: false)
        return text - start > name.indentation && text < bytes.count ? text : nil
    }

    /// Whether the text at an index is on a line that is indented further than the name.
    private mutating func isContinuation(of name: Name, at start: Int) -> Bool {
        var blanks = 0
        while byte(at: start - blanks - 1) == 32 || byte(at: start - blanks - 1) == 9 { blanks += 1 }
        return name.startsField && blanks > name.indentation
    }

    /// Whether the rest of the line is a single word without a mask.
    private mutating func isOnlyWord(from start: Int) -> Bool {
        var index = start
        while index < bytes.count {
            if isMask(at: index) { return false }
            let symbol = symbol(at: index)
            if symbol.byte.isBlank { break }
            index += symbol.length
        }
        let last = byte(at: index - 1)
        index = skipBlanks(from: index, acrossLines: false)
        return last != UInt8(ascii: ":") && (index == bytes.count || symbol(at: index).byte.isLineBreak)
    }

    /// Whether a value may end at an index, because the line, a list or an object continues or ends there.
    private mutating func endsValue(at start: Int) -> Bool {
        let index = skipBlanks(from: start, acrossLines: false)
        guard index < bytes.count else { return true }
        let byte = symbol(at: index).byte
        return byte.isLineBreak || byte.isQuote || ",;}])>&|<".utf8.contains(byte)
    }

    /// Masks what follows the name of a scheme, unless it is prose or a challenge.
    /// - Returns: Whether the text after the scheme has been examined.
    mutating func maskCredentials() -> Bool {
        var start = skipBlanks(from: index, acrossLines: false)
        guard start > index, start < bytes.count else { return false }
        let first = symbol(at: start)
        if first.byte == UInt8(ascii: ":") || first.byte == UInt8(ascii: "=") { return false }
        if first.byte.isQuote { start += first.length }
        var end = start
        while end < bytes.count {
            let symbol = symbol(at: end)
            if symbol.byte.isBlank || symbol.byte.isQuote || ",;&}])<>".utf8.contains(symbol.byte) { break }
            end += symbol.length
        }
        let word = bytes[start..<end]
        let isChallenge = Self.challenges.contains { word.starts(with: $0) }
        // The value of a name has been masked before: `Bearer token=<redacted>`.
        let isName = word.last == UInt8(ascii: "=") && isMask(at: end)
        guard !word.isEmpty, !isChallenge, !isName, word.count >= 16 || looksRandom(word) else { return true }
        mask(start..<end, after: start)
        return true
    }

    private static let challenges = ["realm=", "error=", "error_description=", "scope=", "charset=", "algs="]
        .map { Array($0.utf8) }

    /// Whether a word looks like Base64 and not like prose: it has digits, capitals in the middle or padding at the
    /// end.
    private func looksRandom(_ word: ArraySlice<UInt8>) -> Bool {
        word.contains(where: \.isDigit) || word.last == UInt8(ascii: "=")
            || (word.dropFirst().contains(where: \.isCapital) && word.contains(where: \.isSmallLetter))
    }
}

// MARK: - Ends

extension SecretScanner {
    /// The index of the quotation mark that closes quoted text, or the end of the whole text.
    private mutating func endOfText(_ opening: Symbol, from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            let symbol = symbol(at: index)
            var end = index + symbol.length
            // In XML, JSON within an entity's quotation marks may escape its own: `&quot;abc\u0022&quot;`.
            let isInner = symbol.isEscape && symbol.depth < opening.depth
            if symbol.byte == opening.byte, symbol.level <= opening.level, !isInner {
                let next = self.symbol(at: end)
                let isApostrophe = symbol.byte == UInt8(ascii: "'")
                if next.byte == symbol.byte, next.level == symbol.level {
                    // A doubled mark is part of the text in SQL, CSV and YAML.
                    end += next.length
                } else if isApostrophe, next.byte == symbol.byte, next.level > symbol.level {
                    // A shell quotes an apostrophe like this: 'it'\''s'.
                    end += next.length
                    let last = self.symbol(at: end)
                    if last.byte == symbol.byte, last.level <= opening.level { end += last.length }
                } else if !isApostrophe || !isWord(at: end) {
                    return index + symbol.textLength
                }
            }
            index = end
        }
        return bytes.count
    }

    /// The index after the bracket that closes the one at `start`. The end of the quoted text around the brackets, or
    /// of the whole text, if there is none.
    private mutating func endOfStructure(from start: Int, within quote: Quote?) -> Int {
        var (depth, text, index): (Int, Quote?, Int) = (0, nil, start)
        let countsParentheses = byte(at: start) == UInt8(ascii: "(")
        while index < bytes.count {
            let symbol = symbol(at: index)
            if let quote, symbol.byte == quote.mark, symbol.level < quote.level { return index }
            if symbol.byte.isQuote {
                if let open = text {
                    if symbol.byte == open.mark, symbol.level <= open.level { text = nil }
                } else if symbol.byte != UInt8(ascii: "'") || !isWord(at: index - 1) {
                    text = Quote(mark: symbol.byte, level: symbol.level)
                }
            } else if text == nil {
                if "{[".utf8.contains(symbol.byte) { depth += 1 }
                if "}]".utf8.contains(symbol.byte) { depth -= 1 }
                if countsParentheses, symbol.byte == UInt8(ascii: "(") { depth += 1 }
                if countsParentheses, symbol.byte == UInt8(ascii: ")") { depth -= 1 }
            }
            index += symbol.length
            if depth == 0 { return index }
        }
        return bytes.count
    }

    /// The end of a value that starts with markup: the next closing tag.
    private mutating func endOfMarkup(from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            let symbol = symbol(at: index)
            if isClosingTag(symbol, at: index) { break }
            index += symbol.length
        }
        return index
    }

    /// The end of a value without quotes. White space ends it, and so does a mark before another name or at the end of
    /// a sentence; within a password, the mark is part of the value.
    private mutating func endOfWord(from start: Int) -> Int {
        var (index, depth, unmatched) = (start, 0, 0)
        scan: while index < bytes.count {
            if isMask(at: index) {
                index += Redaction.mask.utf8.count
                continue
            }
            let symbol = symbol(at: index)
            let next = index + symbol.length
            switch symbol.byte {
            case let byte where byte.isBlank && isBlank(symbol):
                if depth == 0 || byte.isLineBreak { break scan }
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"):
                if depth > 0 { depth -= 1 } else { unmatched += 1 }
            case let byte where byte.isQuote:
                let isApostrophe = byte == UInt8(ascii: "'") && isWord(at: next)
                if let quote = quotes.last, byte == quote.mark, symbol.level <= quote.level, !isApostrophe {
                    break scan
                }
                if opensText(symbol, at: index) {
                    let end = endOfText(symbol, from: next)
                    index = end + (end < bytes.count ? self.symbol(at: end).length : 0)
                    continue
                }
                if depth == 0, endsWord(after: next) { break scan }
            case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "&"):
                if depth == 0, startsItem(at: next, after: symbol.byte) { break scan }
            case UInt8(ascii: "<"):
                if endsWord(before: symbol, at: index) { break scan }
            case UInt8(ascii: ">"):
                if let tag, tag.matches(symbol) { break scan }
            default: break
            }
            index = next
        }
        return endWithoutMarks(start..<index, unmatched: unmatched)
    }

    /// Whether a word ends before markup: a closing tag, a comment, a mask, or an element with a secret of its own.
    private mutating func endsWord(before bracket: Symbol, at index: Int) -> Bool {
        let next = index + bracket.length
        return isClosingTag(bracket, at: index) || byte(at: next) == UInt8(ascii: "!") || isMask(at: next)
            || bracket.depth == 0 && startsSecretElement(at: next)
    }

    /// The end of a word without the marks that belong to the sentence or to the object around it.
    /// - Parameter unmatched: The number of closing parentheses in the word that it does not open.
    private mutating func endWithoutMarks(_ word: Range<Int>, unmatched: Int) -> Int {
        var (index, unmatched) = (word.upperBound, unmatched)
        while index > word.lowerBound {
            let last = byte(at: index - 1)
            if last == UInt8(ascii: ")") { unmatched -= 1 }
            guard ",;]}>`".utf8.contains(last) || last == UInt8(ascii: ")") && unmatched >= 0,
                !isMask(at: index - Redaction.mask.utf8.count)
            else { break }
            index -= 1
        }
        return index
    }

    /// Whether a mark within a word opens quoted text, as in `Optional("…")` and `b'…'`.
    private mutating func opensText(_ symbol: Symbol, at index: Int) -> Bool {
        let last = byte(at: index - 1)
        if "([{=:@#$".utf8.contains(last) { return true }
        return "bBuUrRfFLNq".utf8.contains(last) && !isWord(at: index - 2)
    }

    private mutating func endsWord(after index: Int) -> Bool {
        guard index < bytes.count else { return true }
        let byte = symbol(at: index).byte
        return byte.isBlank || byte.isQuote || ",;:.)]}>&<|\\`".utf8.contains(byte)
    }

    /// Whether another item of a list, a form or an object starts after a mark.
    private mutating func startsItem(at start: Int, after mark: UInt8) -> Bool {
        guard start < bytes.count, !isMask(at: start) else { return true }
        let first = symbol(at: start).byte
        if first.isBlank || mark != UInt8(ascii: "&") && (first.isQuote || "{[".utf8.contains(first)) { return true }
        var index = start
        while index < bytes.count {
            let byte = byte(at: index)
            guard byte.isTokenCharacter || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]") else { break }
            index += 1
        }
        let last = symbol(at: index)
        if last.byte == UInt8(ascii: "=") || last.byte.isQuote { return index > start }
        return last.byte == UInt8(ascii: ":") && index > start && mark != UInt8(ascii: "&")
    }
}

// MARK: - URLs

extension SecretScanner {
    /// Consumes a colon. In a URL, also consumes `://` and masks the user name and password.
    mutating func takeColon() {
        line.isAtStart = false
        index += 1
        guard let start = endOfSlashes(at: index) else { return }
        index = start
        let (end, at) = authority(from: start)
        if let at { maskUnlessLiteral(start..<at) }
        if keepsPaths { takeHost(until: end) }
    }

    /// Masks the user name and password of a URL without a scheme, as in `//user:password@host`.
    /// - Returns: Whether there are any.
    mutating func masksUser(after start: Int) -> Bool {
        guard let content = endOfSlashes(at: start), let at = authority(from: content).at else { return false }
        line.isAtStart = false
        maskUnlessLiteral(content..<at)
        return true
    }

    /// The end of a URL's authority, and the index of the mark before its host.
    private mutating func authority(from start: Int) -> (end: Int, at: Int?) {
        var (end, at): (Int, Int?) = (start, nil)
        while end < bytes.count {
            if isMask(at: end) {
                end += Redaction.mask.utf8.count
                continue
            }
            let symbol = symbol(at: end)
            if isBlank(symbol) || "/?#\"'<>".utf8.contains(symbol.byte) { break }
            if symbol.byte == UInt8(ascii: "@") { at = end }
            end += symbol.length
        }
        return (end, at)
    }

    /// The index after two slashes, which JSON may escape.
    private mutating func endOfSlashes(at start: Int) -> Int? {
        let slash = symbol(at: start)
        guard slash.byte == UInt8(ascii: "/") else { return nil }
        let second = symbol(at: start + slash.length)
        return second.byte == slash.byte ? start + slash.length + second.length : nil
    }

    /// Consumes a host and a port, so that the path after them is read as a path.
    private mutating func takeHost(until end: Int) {
        let start = index
        var (hasDot, count, hasDigit, hasLetter) = (false, 0, false, false)
        while index < end {
            let byte = byte(at: index)
            guard byte.isTokenCharacter || "@:[]".utf8.contains(byte) else { break }
            hasDot = hasDot || byte == UInt8(ascii: ".")
            hasDigit = hasDigit || byte.isDigit
            hasLetter = hasLetter || byte.isLetter
            (index, count) = (index + 1, count + 1)
        }
        // A host name is not secret, however long it is.
        let isToken = masksRuns && !hasDot && count >= 20 && hasDigit && hasLetter
        if isToken || bytes[start..<index].starts(with: "eyJ".utf8) { replace(start..<index) }
    }
}
