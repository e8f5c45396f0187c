/// Values that precede their names, as in `"value": "…", "name": "password"`.
///
/// A value gets a place in `replacements` when it starts, so that a later name can mask it without a search.
extension SecretScanner {
    /// A value whose name may follow it.
    struct UnnamedValue {
        /// The notation of a value, which decides where it ends.
        enum Form {
            case text
            /// An object or a list.
            case structure
            /// A word without quotes.
            case word
            /// The rest of a line, and the lines that are indented further than the name.
            case line
        }

        /// The name of the member that holds the value, such as `value`.
        let member: [UInt8]
        /// The index of the value in `replacements`.
        var place: Int
        let start: Int
        var end: Int?
        let form: Form
        /// The number of bytes before the member on its line.
        let indentation: Int
        /// The number of texts in quotes around the member.
        var quotes: Int
        /// The number of brackets around the member that are open in its quotes.
        var depth: Int
        /// The depth of the tag around the member; `nil` outside of tags.
        let tag: Int?

        /// Whether no bracket, tag or quotation mark shows where the member's object ends.
        var isOnLine: Bool { quotes == 0 && depth <= 0 && tag == nil }
    }

    /// The text of an element whose name may follow it.
    struct UnnamedText {
        let range: Range<Int>
        /// The index of the text in `replacements`.
        let place: Int
        /// The number of elements around the element.
        let depth: Int
    }

    /// The number of values, and that of texts, that may wait for their names.
    private static let maximumUnnamed = 64

    /// Adds a range to those to replace. The place of a value may be further on in the text.
    /// - Returns: The index of the range in `replacements`.
    @discardableResult
    mutating func insert(_ range: Range<Int>, _ text: String) -> Int {
        let last = replacements.lastIndex { $0.range.lowerBound <= range.lowerBound } ?? -1
        replacements.insert((range, text), at: last + 1)
        var value = unnamedValues.count - 1
        while value >= 0, unnamedValues[value].place > last {
            unnamedValues[value].place += 1
            value -= 1
        }
        return last + 1
    }

    /// The number of open brackets in the innermost of a number of texts in quotes.
    func depth(within count: Int) -> Int {
        count == 0 ? depth : quotes[count - 1].depth
    }

    /// Remembers a value whose name may follow it, as in `<input value="…" name="password">`.
    mutating func noteUnnamedValue(of name: Name, _ member: [UInt8]) {
        guard Self.isValueName(member), let separator = separator(after: index, for: .unnamedValue),
            separator.element == nil, separator.end < bytes.count, let form = formOfValue(name, separator)
        else { return }
        let first = symbol(at: separator.end)
        let start = separator.end + (form == .text ? first.length : 0)
        // A name within the separator of another one has been read already.
        guard unnamedValues.last.map({ $0.start < start }) ?? true else { return }
        let around = quotes.count - (separator.nameQuote == nil || quotes.isEmpty ? 0 : 1)
        var value = UnnamedValue(
            member: member, place: 0, start: start, form: form, indentation: name.indentation, quotes: around,
            depth: depth(within: around), tag: tag?.depth)
        // Text after the mask is no part of the value that it replaced.
        if form == .word, isMask(at: start) { value.end = start + Redaction.mask.utf8.count }
        // Without brackets, a member of the same name and notation belongs to an earlier object.
        if value.isOnLine { unnamedValues.removeAll { $0.isOnLine && $0.form == form && $0.member == member } }
        // The value of a member without quotes cannot contain another member.
        if let last = unnamedValues.last, last.end == nil, last.form == .word || last.form == .line {
            unnamedValues[unnamedValues.count - 1].end = max(last.start, index)
        }
        // A value in the text of the member's name must not hide those before it.
        while let last = unnamedValues.last, last.quotes > around { unnamedValues.removeLast() }
        if unnamedValues.count == Self.maximumUnnamed { dropFirstUnnamedValue() }
        guard index < bytes.count else { return }
        value.place = insert(start..<start, "")
        unnamedValues.append(value)
    }

    /// The notation of the value after a separator; `nil` if there is no value.
    private mutating func formOfValue(_ name: Name, _ separator: Separator) -> UnnamedValue.Form? {
        let first = symbol(at: separator.end).byte
        if first.isQuote { return .text }
        let isQuoted = separator.nameQuote != nil
        if separator.hasLineBreak, !isQuoted { return nil }
        if "{[".utf8.contains(first) { return .structure }
        let isLine = !isQuoted && startsField(name, separator)
        // These marks announce a block of lines in YAML.
        if isLine, "|>".utf8.contains(first) { return .line }
        if first.isBlank || ",;&)}]<>|".utf8.contains(first), !isMask(at: separator.end) { return nil }
        if isLine { return .line }
        // In prose, words follow a colon.
        let isPair = isQuoted || separator.mark == UInt8(ascii: "=") || depth(within: quotes.count) > 0
        return isPair ? .word : nil
    }

    /// Makes place for another value. The first one is masked, because its name can no longer do so.
    private mutating func dropFirstUnnamedValue() {
        let value = unnamedValues.removeFirst()
        guard !value.isOnLine else { return }
        replacements[value.place] = (value.start..<(value.end ?? bytes.count), Redaction.mask)
        // Without an end, the value is an object with that many others inside.
        if value.end == nil { index = bytes.count }
    }

    /// Masks the values in an object or a tag that contains the name of a secret.
    /// - Parameter levels: The number of lists within it around the name.
    mutating func maskUnnamedValues(of name: Name, within around: Int, before start: Int, levels: Int = 0) {
        let depth = depth(within: around) - levels
        // The text of a value may look like a name. Another name may follow it.
        let current = unnamedValues.last.flatMap { $0.quotes == around && $0.start >= start ? $0 : nil }
        if current != nil { unnamedValues.removeLast() }
        defer { if let current { unnamedValues.append(current) } }
        while let value = unnamedValues.last, value.quotes == around, value.depth == depth {
            unnamedValues.removeLast()
            var range = value.start..<max(value.start, value.end ?? start)
            if value.form == .word || value.form == .line { range = trimmed(range) }
            // A number of tokens.
            let isNumber = name.kind.allowsNumber && value.form == .word && range.count <= 20
            if isNumber, bytes[range].allSatisfy(\.isDigit) { continue }
            maskEarlier(range, at: value.place)
        }
    }

    /// A range without the white space and the marks at its end.
    private mutating func trimmed(_ range: Range<Int>) -> Range<Int> {
        var end = range.upperBound
        while end > range.lowerBound, byte(at: end - 1).isBlank || ",;".utf8.contains(byte(at: end - 1)) { end -= 1 }
        return range.lowerBound..<end
    }

    /// Masks a value before the index, unless it is a literal.
    private mutating func maskEarlier(_ range: Range<Int>, at place: Int) {
        let isShort = range.count <= 40
        if isShort { steps += range.count }
        guard !range.isEmpty, !isShort || !Self.isLiteral(bytes[range]) else { return }
        replacements[place] = (range, Redaction.mask)
    }
}

// MARK: - Ends of values

extension SecretScanner {
    /// Forgets the values in texts and objects that have ended at an index, and ends the value that ends there.
    mutating func leaveUnnamedValues(_ form: UnnamedValue.Form, at end: Int) {
        let depth = depth(within: quotes.count)
        while let value = unnamedValues.last,
            value.quotes > quotes.count || value.quotes == quotes.count && value.depth > depth
        {
            unnamedValues.removeLast()
        }
        guard let value = unnamedValues.last, value.form == form, value.end == nil, value.quotes == quotes.count,
            value.depth == depth, end >= value.start
        else { return }
        unnamedValues[unnamedValues.count - 1].end = end
    }

    /// Leaves a bracket that closes before an index.
    mutating func leaveBrackets(at end: Int) {
        leaveUnnamedValues(.structure, at: end)
        leaveFieldList(isBracket: true)
    }

    /// Ends a value without quotes before a blank, a line break or a mark at the index.
    mutating func endWord(before symbol: Symbol) {
        guard let value = unnamedValues.last, value.end == nil, value.start < index, value.quotes == quotes.count,
            value.depth == depth(within: quotes.count)
        else { return }
        switch value.form {
        case .word where symbol.byte.isBlank || ",;&".utf8.contains(symbol.byte): break
        case .line where symbol.byte.isLineBreak:
            let next = index + symbol.length
            let text = skipBlanks(from: next, acrossLines: false)
            if text - next > value.indentation, text < bytes.count { return }
        default: return
        }
        unnamedValues[unnamedValues.count - 1].end = index
    }

    /// Leaves the texts in quotes that do not end on their line.
    mutating func leaveQuotesOfLine(at start: Int) {
        if let value = unnamedValues.last, value.form == .text, value.end == nil, value.start <= start {
            unnamedValues.removeLast()
        }
        var value = unnamedValues.count - 1
        while value >= 0, unnamedValues[value].quotes > 0 {
            (unnamedValues[value].quotes, unnamedValues[value].depth) = (0, depth)
            value -= 1
        }
    }

    /// Forgets the values of lines that are indented further than the text at an index, which starts another object.
    mutating func leaveLines(at start: Int) {
        let indentation = start - line.start
        while let value = unnamedValues.last, value.isOnLine, value.indentation > indentation {
            unnamedValues.removeLast()
        }
    }
}

// MARK: - Texts of elements

extension SecretScanner {
    /// Remembers the text of an element that may hold the value of a name, until the element around it ends.
    mutating func leaveElement(_ name: ArraySlice<UInt8>, at start: Int) {
        while let text = unnamedTexts.last, text.depth > elementDepth { unnamedTexts.removeLast() }
        guard let value = openValue, value.name == name else { return }
        openValue = nil
        if unnamedTexts.count == Self.maximumUnnamed {
            let first = unnamedTexts.removeFirst()
            maskEarlier(first.range, at: first.place)
        }
        let range = replacements[value.place].range.lowerBound..<start
        unnamedTexts.append(UnnamedText(range: range, place: value.place, depth: elementDepth))
    }

    /// Masks the texts in the element around an element with the name of a secret.
    mutating func maskUnnamedTexts() {
        let depth = unnamedTexts.last?.depth
        while let text = unnamedTexts.last, text.depth == depth {
            unnamedTexts.removeLast()
            maskEarlier(text.range, at: text.place)
        }
    }
}
