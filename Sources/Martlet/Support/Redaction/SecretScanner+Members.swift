/// Members of objects and tags that hold a secret because of the object, or because of another member.
extension SecretScanner {
    /// Counts a bracket in the objects around the index.
    mutating func countBrackets(_ change: Int) {
        if quotes.isEmpty { depth += change } else { quotes[quotes.count - 1].depth += change }
        let quotes = quotes.count
        if tokenObject?.quotes == quotes {
            tokenObject?.depth += change
            if let depth = tokenObject?.depth, depth <= 0 { tokenObject = nil }
        }
        if pair?.quotes == quotes {
            pair?.depth += change
            if let depth = pair?.depth, depth < 0 { pair = nil }
        }
    }

    /// Leaves the objects in a quoted text that ends at an index.
    mutating func leaveScopes(at end: Int) {
        if let object = tokenObject, object.quotes > quotes.count { tokenObject = nil }
        if let pair, pair.quotes > quotes.count { self.pair = nil }
        leaveUnnamedValues(.text, at: end)
        leaveFieldList(isBracket: false)
    }

    /// Leaves a tag around the index. One with a lower depth goes on.
    mutating func leaveTag(atDepth depth: Int) {
        if let tag = pair?.tag, tag >= depth { pair = nil }
        unnamedValues.removeAll { $0.tag.map { $0 >= depth } ?? false }
    }

    /// Counts a tag in the elements around the index.
    mutating func countElements(_ change: Int) {
        elementDepth += change
        guard let depth = elementPair else { return }
        elementPair = depth + change < 0 ? nil : depth + change
    }

    /// Continues inside an object that has the name of a token.
    mutating func enterTokenObject() {
        if tokenObject == nil { tokenObject = Scope(depth: 0, quotes: quotes.count) }
    }

    /// The kind of secret of a member whose own name announces none, but whose object or other members do.
    mutating func kindOfMember(_ name: [UInt8], at start: Int) -> Redaction.SecretKind? {
        if start == pairedValue { return pairKind }
        guard pair != nil || tokenObject != nil || tag?.isSecret == true, name.count <= 40 else { return nil }
        steps += name.count
        let isValue = Self.isValueName(name)
        if pair?.endsAtName == true, Self.keyNames.contains(name) { pair = nil }
        if isValue, tag?.isSecret == true { return .other }
        if isValue, let pair, quotes.count <= pair.quotes + 1 { return pairKind }
        guard let object = tokenObject, quotes.count <= object.quotes + 1 else { return nil }
        if Self.namesInTokens.contains(name) { return .other }
        return name.isEmpty || Self.isHarmlessInToken(name) ? nil : .member
    }

    /// Notes that the name before the index is the value of a member, so that the values of its object or tag are
    /// secret: `"name": "password", "type": "x", "value": "…"`.
    mutating func notePair(of name: Name) {
        var end = index
        while "])".utf8.contains(byte(at: end)) { end += 1 }
        let nameEnd = end
        let next = symbol(after: &end, acrossLines: false)
        // In quoted text, a line break is an escape.
        var closing = next.byte.isLineBreak && next.isEscape ? symbol(after: &end, acrossLines: true) : next
        if !closing.byte.isQuote, let quote = closingQuote(from: end) { (closing, end) = (symbol(at: quote), quote) }
        pairKind = name.kind == .authorization || name.kind == .cookie ? name.kind : .other
        let open = quotes.last.flatMap { $0.mark == closing.byte && closing.level <= $0.level ? $0 : nil }
        guard closing.byte.isQuote, end == nameEnd || open != nil else {
            return noteUnquotedPair(of: name, to: nameEnd, before: next.byte)
        }
        let around = quotes.count - (open == nil ? 0 : 1)
        let following = skipBlanks(from: end + closing.length)
        if let value = valueMember(at: following) {
            openPair(Scope(depth: 0, quotes: around, tag: tag?.depth))
            pairedValue = value
        }
        if let open, end == nameEnd, let value = nextItem(after: name, in: open, at: following) {
            return maskText(of: name, from: value, isField: false)
        }
        guard let open else { return }
        let isLabel = !isWholeText(name)
        // A form or lines of YAML may end the text, as in `"value=…&name=password"`.
        if tag == nil, isLabel || byte(at: line.start + name.indentation - 1) == UInt8(ascii: "=") {
            let place = index
            noteUnquotedPair(of: name, to: nameEnd, before: 0)
            // The rest of the text was a part of a multipart form.
            if index != place { return }
        }
        if isLabel, !isLabelText(name) { return }
        noteMember(of: name, in: open, within: around, to: end + closing.length, isLabel: isLabel)
    }

    /// Notes that the name of a secret is the whole text of a member, or the end of a label.
    private mutating func noteMember(
        of name: Name, in open: Quote, within around: Int, to end: Int, isLabel: Bool = false
    ) {
        let following = skipBlanks(from: end)
        guard let member = memberName(before: open.start) else {
            if !isLabel, byte(at: following) == UInt8(ascii: "]"), endsLocation(at: open.start) {
                openPair(Scope(depth: 1, quotes: around))
                maskUnnamedValues(of: name, within: around, before: open.start, levels: 1)
            }
            return
        }
        if isLabel, !Self.labelNames.contains(member) { return }
        if let content = startOfPart(ofMember: member, namedAt: open.start, after: end) {
            return maskPart(from: content)
        }
        let hasNoMark = tag == nil && !",}])".utf8.contains(byte(at: following))
        // Without a mark, an object ends with its line, or is a list of lines as in YAML and TOML.
        let isList = Self.keyNames.contains(member) && endsLine(at: end)
        openPair(
            Scope(
                depth: 0, quotes: around, tag: tag?.depth, endsAtLine: hasNoMark && !isList,
                endsAtName: hasNoMark && isList))
        noteKey(member)
        maskUnnamedValues(of: name, within: around, before: open.start)
    }

    /// Whether only white space stands between an index and the next line.
    private mutating func endsLine(at start: Int) -> Bool {
        let end = skipBlanks(from: start, acrossLines: false)
        return end < bytes.count && symbol(at: end).byte.isLineBreak
    }

    /// Whether the last item of a list that locates a value starts at an index, as in
    /// `"loc": ["body", "password"], "input": "…"` of a FastAPI server.
    private mutating func endsLocation(at end: Int) -> Bool {
        var index = end
        while end - index < Self.lookAhead, index > 0, !"[]{}:=".utf8.contains(byte(at: index - 1)) { index -= 1 }
        return byte(at: index - 1) == UInt8(ascii: "[") && memberName(before: index - 1) == Array("loc".utf8)
    }

    /// The first symbol from an index on that is not white space. The index moves to it.
    private mutating func symbol(after index: inout Int, acrossLines: Bool) -> Symbol {
        var next = symbol(at: index)
        while next.byte.isBlank, acrossLines || !next.byte.isLineBreak {
            index += next.length
            next = symbol(at: index)
        }
        return next
    }

    /// The index of the content of a part of a multipart form, whose header ends with an empty line.
    private mutating func startOfPart(ofMember member: [UInt8], namedAt name: Int, after start: Int) -> Int? {
        guard member.elementsEqual("name".utf8), followsFormData(name) else { return nil }
        var (index, breaks, marks) = (start, 0, 0)
        // The other fields of the part, and a file name in quotes.
        while index < min(start + 250, bytes.count), marks <= 2 {
            let symbol = symbol(at: index)
            index += symbol.length
            if symbol.byte.isQuote { marks += 1 }
            guard symbol.byte != UInt8(ascii: "\r") else { continue }
            breaks = symbol.byte == UInt8(ascii: "\n") ? breaks + 1 : 0
            if breaks == 2 { return index }
        }
        return nil
    }

    /// Whether the name of a part of a multipart form starts at an index. A file name may precede it, and an excerpt may
    /// start within the header.
    private mutating func followsFormData(_ start: Int) -> Bool {
        let near = lettersBefore(start, count: 24)
        if near.contains(text: "form-data") { return true }
        guard near.contains(text: "; name=") else { return false }
        let before = lettersBefore(start, count: 200)
        return before.contains(text: "form-data; filename")
            || before.count == start && !before.contains(where: \.isLineBreak)
    }

    private mutating func lettersBefore(_ end: Int, count: Int) -> [UInt8] {
        steps += min(count, end)
        return bytes[max(0, end - count)..<end].map(\.lowercased)
    }

    /// Masks the content of a part up to the next delimiter, or to the end of the text.
    private mutating func maskPart(from start: Int) {
        pass(to: start)
        var (index, end) = (start, start)
        while index < bytes.count {
            let symbol = symbol(at: index)
            // The content, such as that of a file, may start with an empty line.
            if symbol.byte == UInt8(ascii: "\n"), end > start, starts(with: "--", at: index + symbol.length) { break }
            index += symbol.length
            if !symbol.byte.isBlank { end = index }
        }
        maskUnlessLiteral(start..<(index == bytes.count ? index : end))
    }

    /// Whether the tag around the index belongs to an element whose `id` names its content.
    private var isInField: Bool {
        guard let tag else { return false }
        return Self.fieldElements.contains { $0.elementsEqual(tag.name) }
    }

    /// Notes the object or the tag of a pair, unless one around it in the same text contains it.
    private mutating func openPair(_ scope: Scope) {
        if let pair, pair.quotes == scope.quotes, pair.tag == scope.tag, !pair.endsAtLine, !pair.endsAtName {
            return
        }
        pair = scope
    }

    /// The index of the name of the next member if that is a value, as in `"password", "value": "…"`.
    private mutating func valueMember(at start: Int) -> Int? {
        var index = byte(at: start) == UInt8(ascii: ",") ? skipBlanks(from: start + 1) : start
        let quote = symbol(at: index)
        if quote.byte.isQuote { index += quote.length }
        guard byte(at: index).lowercased == UInt8(ascii: "v"), starts(with: "alue", at: index + 1),
            !isWord(at: index + 5)
        else { return nil }
        return index
    }

    /// Notes that the name before the index is the value of a member without quotes, as in `name: password` in YAML, or
    /// the text of an element, as in `<name>password</name>`.
    private mutating func noteUnquotedPair(of name: Name, to end: Int, before next: UInt8) {
        let start = line.start + name.indentation
        let text = endOfText(before: start, after: max(0, start - 1000))
        // Only before a closing tag, the name may be the text of an element.
        let mayBeElement = next == UInt8(ascii: "<") || next.isLineBreak
        let symbol = mayBeElement ? symbol(before: text, after: 0) : Symbol(byte: byte(at: text - 1), length: 1)
        let last = symbol.byte
        let isDirect = text == start && next == UInt8(ascii: "<") && !byte(at: end).isBlank
        if last == UInt8(ascii: ">"), isDirect || endsElement(at: end) {
            elementPair = 1
            let tag = word(before: text - symbol.length, after: 0, limit: 4).letters
            if tag == Self.keyNames[1] || tag.suffix(3).elementsEqual(Self.keyNames[0]) { maskUnnamedTexts() }
            if isDirect { return }
        }
        let isAttribute = tag != nil && last == UInt8(ascii: "=")
        guard
            next == 0 || next.isLineBreak || ",;})".utf8.contains(next) || isAttribute
                || byte(at: start - 1) == UInt8(ascii: "="),
            let member = memberName(before: start), isAttribute || Self.keyNames.contains(member)
        else { return }
        if let content = startOfPart(ofMember: member, namedAt: start, after: end) { return maskPart(from: content) }
        if isAttribute { noteKey(member) }
        if Self.keyNames.contains(member) {
            pair = Scope(depth: 0, quotes: quotes.count, endsAtName: true)
        } else {
            openPair(Scope(depth: 0, quotes: quotes.count, tag: tag?.depth))
        }
        maskUnnamedValues(of: name, within: quotes.count, before: start)
    }

    /// Whether white space and a closing tag end the text of an element at an index.
    private mutating func endsElement(at end: Int) -> Bool {
        endOfClosingTag(at: skipBlanks(from: end)) != nil
    }

    /// Notes an attribute with the name of a secret, which may name the content of its element.
    private mutating func noteKey(_ member: [UInt8]) {
        guard !tags.isEmpty else { return }
        if Self.keyNames.contains(member) || member.elementsEqual("id".utf8) && isInField {
            tags[tags.count - 1].namesSecret = true
        }
    }

    /// Whether a name is the last word of its quoted text, as in `"user[password]"` and not in `"a wrong password"`.
    private mutating func isWholeText(_ name: Name) -> Bool {
        guard name.indentation <= 64, name.indentation <= index - line.start else { return false }
        steps += name.indentation
        return isStartOfText(line.start + name.indentation - name.firstWord)
    }

    /// Whether a name follows the first word of a label, as in `"New password"`.
    private mutating func isLabelText(_ name: Name) -> Bool {
        guard name.indentation <= 64, name.indentation <= index - line.start else { return false }
        steps += name.indentation
        let start = line.start + name.indentation - name.firstWord
        let blank = symbol(before: start, after: line.start)
        guard start - line.start > blank.length, blank.byte == 32 else { return false }
        let (word, first) = word(before: start - blank.length, after: line.start, limit: Redaction.longestFirstWord)
        return Self.firstWordsOfLabels.contains(word) && isStartOfText(first)
    }

    /// Whether only marks precede an index on its line or in its quotes.
    private mutating func isStartOfText(_ start: Int) -> Bool {
        !bytes[line.start..<start].contains(where: \.isBlank)
            || endOfText(before: start, after: line.start) == line.start
    }

    /// The name before a colon or an equals sign that precedes an index; `nil` if there is no mark.
    private mutating func memberName(before start: Int) -> [UInt8]? {
        let first = max(0, start - 64)
        var index = endOfText(before: start, after: first)
        guard index > first else { return nil }
        let mark = symbol(before: index, after: first)
        guard ":=>".utf8.contains(mark.byte) else { return nil }
        index = endOfText(before: index - mark.length, after: first)
        while index > first {
            let last = symbol(before: index, after: first)
            if last.isWord { break }
            index = endOfText(before: index - last.length, after: first)
        }
        let (name, start) = word(before: index, after: first, limit: 16)
        // The letter of an escape, as in `\nname`.
        let startsWithEscape = byte(at: start - 1) == UInt8(ascii: "\\") && !Self.keyNames.contains(name)
        return startsWithEscape ? Array(name.dropFirst()) : name
    }

    /// The index after the last character before `end` that is not white space, even if an escape represents it.
    mutating func endOfText(before end: Int, after first: Int) -> Int {
        var index = end
        while index > first {
            let byte = byte(at: index - 1)
            if "nrt".utf8.contains(byte), self.byte(at: index - 2) == UInt8(ascii: "\\") {
                index -= 1
            } else if !byte.isBlank, byte != UInt8(ascii: "\\") {
                // A blank may be an escape such as `\u0020`.
                guard byte != UInt8(ascii: ";") else { break }
                let symbol = symbol(before: index, after: first)
                guard symbol.byte.isBlank else { break }
                index -= symbol.length - 1
            }
            index -= 1
        }
        return index
    }
}

// MARK: - Names of members

extension SecretScanner {
    /// Whether a member with this name holds the value that another member names: `value`, `newValue`, `content`.
    static func isValueName(_ name: [UInt8]) -> Bool {
        valueNames.contains(name) || name.suffix(5).elementsEqual(valueNames[0])
    }

    private static let valueNames = ["value", "values", "val", "content", "input"].map { Array($0.utf8) }

    /// Attributes that name the content of their element, as in `<entry key="password">…</entry>`.
    static let keyNames = ["key", "name"].map { Array($0.utf8) }

    /// Members whose text may be a label.
    private static let labelNames = ["label", "name", "key", "field", "title", "placeholder"].map { Array($0.utf8) }

    /// Words that precede the name of a secret in a label, as in `New password`. In other texts, such as
    /// `Wrong password`, the name announces nothing.
    private static let firstWordsOfLabels = [
        "access", "auth", "client", "confirm", "current", "device", "id", "login", "new", "old", "refresh", "repeat",
        "security", "session", "temporary", "user", "your",
    ].map { Array($0.utf8) }

    /// The names of a token's text in an object that describes the token.
    private static let namesInTokens = ["value", "raw", "string", "text", "data", "jwt"].map { Array($0.utf8) }

    /// Whether a member of a token's object describes the token.
    private static func isHarmlessInToken(_ name: [UInt8]) -> Bool {
        harmlessNames.contains(String(decoding: name, as: UTF8.self))
            || harmlessEnds.contains { name.suffix($0.count).elementsEqual($0) }
            || harmlessStarts.contains { name.starts(with: $0) }
    }

    private static let harmlessNames: Set<String> = [
        "active", "alg", "algorithm", "application", "aud", "audience", "clientid", "count", "description", "detail",
        "device", "deviceid", "duration", "email", "enabled", "error", "exp", "format", "iat", "index", "iss", "issuer",
        "kid", "kind", "label", "language", "level", "lifetime", "locale", "log", "message", "method", "mode", "model",
        "name", "nbf", "owner", "page", "path", "permissions", "platform", "provider", "purpose", "realm", "reason",
        "revoked", "role", "roles", "scheme", "scope", "scopes", "state", "status", "sub", "subject", "tenant", "title",
        "ttl", "typ", "uri", "url", "user", "userid", "username", "valid", "version",
    ]

    private static let harmlessEnds = ["at", "type", "date", "time", "until"].map { Array($0.utf8) }
    private static let harmlessStarts = ["expir", "created", "issued", "updated"].map { Array($0.utf8) }
}

extension [UInt8] {
    fileprivate func contains(text: StaticString) -> Bool {
        text.withUTF8Buffer { text in indices.contains { self[$0...].starts(with: text) } }
    }
}
