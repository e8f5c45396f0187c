/// XML and HTML, also as text in another document: `&lt;Password&gt;` and `\u003cPassword\u003e`.
extension SecretScanner {
    /// The start tag of an element.
    struct Tag {
        /// The name of the element without its prefix, in lowercase.
        let name: ArraySlice<UInt8>
        /// The angle bracket of the tag.
        let bracket: Symbol
        /// The number of enclosing documents that have escaped the element.
        var depth = 0
        /// Whether the element contains a secret.
        var isSecret: Bool
        /// Whether an attribute names the element's content, as in `<entry key="password">`.
        var namesSecret = false
        /// Whether a word precedes the tag, which could then be the parameter of a generic type: `Array<Token>`.
        var followsWord = false

        /// Whether the angle bracket of another tag belongs to the same document. JSON may have escaped only some.
        func matches(_ other: Symbol) -> Bool {
            bracket.depth == other.depth || bracket.isEscape && bracket.depth == 0 || other.isEscape && other.depth == 0
        }
    }

    mutating func takeTagStart(_ symbol: Symbol) {
        if isMask(at: index) {
            index += Redaction.mask.utf8.count
            line.isAtStart = false
            return
        }
        let start = index
        let wasAtStart = line.isAtStart
        index += symbol.length
        // curl prints `< ` before a received header field.
        line.isAtStart = wasAtStart && symbol.length == 1 && byte(at: index) == UInt8(ascii: " ")
        let (name, end) = elementName(at: index)
        guard !name.isEmpty else {
            guard let end = endOfSlash(at: index) else { return }
            countElements(-1)
            return leaveElement(elementName(at: end).name, at: start)
        }
        countElements(1)
        var letters = Redaction.NameLetters()
        for byte in name { letters.append(byte) }
        steps += name.count
        let next = self.symbol(at: end).byte
        // `<password: x>` is not an element.
        let isVoid = Self.voidElements.contains(letters.all)
        let isSecret =
            (Redaction.kind(of: letters) != nil || elementPair != nil && !isVoid && Self.isValueName(letters.all))
            && (next == UInt8(ascii: ">") || next == UInt8(ascii: "/") || next.isBlank)
            && separator(after: end, for: .tag) == nil
        // A bracket within an attribute's value does not end the tag.
        if let tag, tag.isSecret, !quotes.isEmpty { return }
        let followsWord = isWord(at: start - 1) || isMask(at: start - Redaction.mask.utf8.count)
        let depth = documentDepth(of: symbol)
        while let last = tags.last, last.depth >= depth { tags.removeLast() }
        if tags.count == Self.maximumTags { tags.removeFirst() }
        tags.append(Tag(name: name, bracket: symbol, depth: depth, isSecret: isSecret, followsWord: followsWord))
    }

    /// The number of tags around the index that are remembered.
    private static let maximumTags = 8

    /// The number of enclosing documents that have escaped an angle bracket. With an escape of JSON, it belongs to the
    /// text in quotes around it: in `<a data="{&quot;b&quot;:&quot;\u003e`, the attribute's text goes on.
    private func documentDepth(of bracket: Symbol) -> Int {
        guard bracket.isEscape, bracket.depth == 0 else { return bracket.depth }
        return (quotes.lazy.map(\.level).max() ?? 0) / 64
    }

    mutating func takeTagEnd(_ symbol: Symbol) {
        let isEmpty = byte(at: index - 1) == UInt8(ascii: "/")
        index += symbol.length
        let depth = documentDepth(of: symbol)
        guard let place = tags.lastIndex(where: { $0.depth == depth }) else { return }
        let tag = tags[place]
        tags.removeSubrange(place...)
        leaveTag(atDepth: depth)
        if isEmpty { countElements(-1) }
        let isVoid = isEmpty || Self.voidElements.contains { $0.elementsEqual(tag.name) }
        if !isVoid, !tag.isSecret, Self.isValueName(Array(tag.name)) {
            openValue = (tag.name, insert(index..<index, ""))
        }
        line.isAtStart = false
        if tag.isSecret || tag.namesSecret, !isEmpty { maskContent(of: tag) }
    }

    /// Masks the text from the index to the closing tag of the element, with all markup in it.
    private mutating func maskContent(of tag: Tag) {
        let start = index
        // Without this check, each unclosed element would cause a search through the rest of the text.
        let isClosed = lastClosing(of: tag.name).map { $0 >= start } ?? false
        let mayBeCut = tag.isSecret || !Self.voidElements.contains { $0.elementsEqual(tag.name) }
        guard isClosed || mayBeCut && !isPlaceholder(tag, before: start) else { return }
        guard !isClosed else { return maskUnlessLiteral(start..<endOfElement(tag, from: start)) }
        // The rest may contain the name of the value around the element.
        let value = isMask(at: start) ? nil : unnamedValues.last.flatMap { $0.end == nil ? $0.start : nil }
        maskUnlessLiteral((value ?? start)..<bytes.count)
    }

    /// Whether an unclosed tag is part of prose or code, as in `login <user> <password>` and `Array<Token>()`, and not
    /// an element that is cut off. In prose and code, white space or a mark follows it, and not a word.
    private mutating func isPlaceholder(_ tag: Tag, before start: Int) -> Bool {
        var index = start
        while index < bytes.count {
            let symbol = symbol(at: index)
            let byte = symbol.byte
            if byte.isBlank { return byte == 32 || index > start || tag.followsWord }
            if tag.followsWord, ".(?!{".utf8.contains(byte) { return true }
            if let quote = quotes.last, quote.mark == byte, symbol.level <= quote.level { return true }
            guard byte.isQuote || ".,;:)]>}".utf8.contains(byte) else { return false }
            index += symbol.length
            // As in `the <password>'s length`.
            if byte == UInt8(ascii: "'"), self.byte(at: index) == UInt8(ascii: "s") { return !isWord(at: index + 1) }
        }
        return true
    }

    /// The index of the closing tag; the end of the text if there is none.
    mutating func endOfElement(_ tag: Tag, from start: Int) -> Int {
        var (open, index, opensElement) = (1, start, false)
        while index < bytes.count {
            let symbol = symbol(at: index)
            let next = index + symbol.length
            if symbol.byte == UInt8(ascii: ">"), tag.matches(symbol), opensElement {
                opensElement = false
                if byte(at: index - 1) != UInt8(ascii: "/") { open += 1 }
            }
            guard symbol.byte == UInt8(ascii: "<"), tag.matches(symbol) else {
                index = next
                continue
            }
            if end(of: "![CDATA[", at: next) != nil {
                index = endOfSection("]]>", from: next)
            } else if end(of: "!--", at: next) != nil {
                index = endOfSection("-->", from: next)
            } else if let end = endOfSlash(at: next) {
                if names(tag.name, at: end) {
                    open -= 1
                    if open == 0 { return index }
                }
                index = end
            } else {
                opensElement = names(tag.name, at: next)
                index = next
            }
        }
        return bytes.count
    }

    /// The index after the text that ends a section; the end of the whole text if it does not end.
    private mutating func endOfSection(_ mark: StaticString, from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            if let end = end(of: mark, at: index) { return end }
            index += symbol(at: index).length
        }
        return bytes.count
    }

    /// The index after quoted text, which may be escaped; `nil` if there is another one at the index.
    private mutating func end(of text: StaticString, at start: Int) -> Int? {
        var index = start
        for offset in 0..<text.utf8CodeUnitCount {
            let symbol = symbol(at: index)
            guard symbol.byte == text.utf8Start[offset] else { return nil }
            index += symbol.length
        }
        return index
    }

    /// The index after a slash, which JSON may escape; `nil` if there is another character.
    private mutating func endOfSlash(at start: Int) -> Int? {
        let symbol = symbol(at: start)
        return symbol.byte == UInt8(ascii: "/") ? start + symbol.length : nil
    }

    private mutating func names(_ name: ArraySlice<UInt8>, at start: Int) -> Bool {
        elementName(at: start).name == name
    }

    /// The name of an element without its prefix, in lowercase, and the index after it.
    private mutating func elementName(at start: Int) -> (name: ArraySlice<UInt8>, end: Int) {
        var (name, end): ([UInt8], Int) = ([], start)
        let first = symbol(at: start).byte
        guard first.isLetter || first >= 0x80 || first == UInt8(ascii: "_") else { return ([], start) }
        while end < bytes.count {
            let symbol = symbol(at: end)
            let byte = symbol.byte
            if byte == UInt8(ascii: ":") {
                name.removeAll(keepingCapacity: true)
            } else if byte.isLetter || byte.isDigit || byte >= 0x80 || "-_.".utf8.contains(byte) {
                name.append(byte.lowercased)
            } else {
                break
            }
            end += symbol.length
        }
        return (name[...], end)
    }

    /// Whether the name of an element that holds a secret starts here, with attributes after it.
    mutating func startsSecretElement(at start: Int) -> Bool {
        let (name, end) = elementName(at: start)
        guard !name.isEmpty, symbol(at: end).byte.isBlank else { return false }
        var letters = Redaction.NameLetters()
        for byte in name { letters.append(byte) }
        steps += name.count
        return Redaction.kind(of: letters) != nil
    }

    /// The index of the last closing tag of an element.
    private mutating func lastClosing(of name: ArraySlice<UInt8>) -> Int? {
        if let closings { return closings[name] }
        var found: [ArraySlice<UInt8>: Int] = [:]
        var index = index
        while index < bytes.count {
            let symbol = symbol(at: index)
            if symbol.byte == UInt8(ascii: "<"), let end = endOfSlash(at: index + symbol.length) {
                let name = elementName(at: end).name
                if !name.isEmpty { found[name] = index }
            }
            index += symbol.length
        }
        closings = found
        return found[name]
    }
}

// MARK: - Names in markup

extension SecretScanner {
    /// The index after the closing tag of an element that contains a name, as in `<b>Password</b>: …`.
    mutating func endOfClosingTag(at start: Int) -> Int? {
        let symbol = symbol(at: start)
        guard symbol.byte == UInt8(ascii: "<"), let slash = endOfSlash(at: start + symbol.length) else { return nil }
        let (name, end) = elementName(at: slash)
        let last = self.symbol(at: end)
        return !name.isEmpty && last.byte == UInt8(ascii: ">") ? end + last.length : nil
    }

    /// The start tag of an element that holds the value of a name, as in `<key>password</key><string>…</string>`, and
    /// the index after it.
    mutating func valueTag(at start: Int, ofAnyName: Bool) -> (element: Tag, end: Int)? {
        let symbol = symbol(at: start)
        guard symbol.byte == UInt8(ascii: "<") else { return nil }
        let (name, nameEnd) = elementName(at: start + symbol.length)
        let isKnown = Self.valueElements.contains { $0.elementsEqual(name) }
        let isVoid = Self.voidElements.contains { $0.elementsEqual(name) }
        guard isKnown || ofAnyName && !name.isEmpty && !isVoid else { return nil }
        let element = Tag(name: name, bracket: symbol, isSecret: true)
        // Skip its attributes. Another tag ends the look-ahead.
        var end = nameEnd
        while end < min(nameEnd + 1000, bytes.count) {
            let next = self.symbol(at: end)
            if next.byte == UInt8(ascii: "<") { return nil }
            end += next.length
            guard next.byte == UInt8(ascii: ">"), element.matches(next) else { continue }
            let isEmpty = byte(at: end - next.length - 1) == UInt8(ascii: "/")
            let isClosed = isKnown || lastClosing(of: name).map { $0 >= end } ?? false
            return isEmpty || !isClosed ? nil : (element, end)
        }
        return nil
    }

    /// The index after a comment and the white space that follows it; the index itself if there is none.
    mutating func endOfComment(at start: Int) -> Int {
        let open = symbol(at: start)
        guard open.byte == UInt8(ascii: "<"), let content = end(of: "!--", at: start + open.length) else {
            return start
        }
        var index = content
        while index < min(content + Self.lookAhead, bytes.count) {
            let symbol = symbol(at: index)
            if symbol.byte == UInt8(ascii: "-"), let end = end(of: "-->", at: index) { return skipBlanks(from: end) }
            index += symbol.length
        }
        return start
    }

    /// The index after the mark that ends a CDATA section; `nil` if there is another text.
    mutating func endOfSectionMark(at start: Int) -> Int? {
        end(of: "]]>", at: start)
    }

    /// The limit of a look-ahead that may read the same bytes again.
    static let lookAhead = 100

    /// Whether a closing tag starts at an index. An escaped one may be part of a password.
    mutating func isClosingTag(_ symbol: Symbol, at index: Int) -> Bool {
        symbol.byte == UInt8(ascii: "<") && symbol.depth == 0 && endOfSlash(at: index + symbol.length) != nil
    }

    /// Elements of HTML without a closing tag.
    private static let voidElements = [
        "input", "meta", "param", "link", "img", "br", "hr", "wbr", "col", "source",
    ].map { Array($0.utf8) }

    private static let valueElements = [
        "string", "value", "data", "td", "dd", "integer", "real", "array", "dict", "code",
    ].map { Array($0.utf8) }

    /// Elements whose attribute `id` names their content. In HTML, `id` names the element itself.
    static let fieldElements = ["field", "entry", "item", "property", "setting", "attribute", "param"].map {
        Array($0.utf8)
    }
}
