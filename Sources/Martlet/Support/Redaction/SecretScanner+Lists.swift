/// Lists in which a value follows the name of a secret: `[["X-Api-Key", "…"]]`, `("X-Api-Key", "…")`.
extension SecretScanner {
    /// A list that alternates between names and values, as `rawHeaders` of Node.js does.
    struct FieldList {
        /// The number of texts in quotes around the list.
        let quotes: Int
        /// The number of brackets around its items that are open in these quotes.
        let depth: Int
        /// The number of items before the index.
        var items = 0
    }

    /// Notes a list of header fields after its name.
    mutating func noteFieldList(named name: [UInt8]) {
        guard name.elementsEqual("rawheaders".utf8), let separator = separator(after: index, for: .fieldList),
            symbol(at: separator.end).byte == UInt8(ascii: "[")
        else { return }
        let around = quotes.count - (separator.nameQuote == nil || quotes.isEmpty ? 0 : 1)
        fieldList = FieldList(quotes: around, depth: depth(within: around) + 1)
    }

    /// Counts a comma in the list of header fields.
    mutating func countItem() {
        if let list = fieldList, list.quotes == quotes.count, list.depth == depth(within: list.quotes) {
            fieldList?.items += 1
        }
    }

    /// Forgets the list of header fields if a bracket or a quotation mark has ended it.
    /// - Parameter isBracket: Whether a bracket has closed. Before the list, its depth is not yet reached.
    mutating func leaveFieldList(isBracket: Bool) {
        guard let list = fieldList else { return }
        if list.quotes > quotes.count || isBracket && list.depth > depth(within: list.quotes) { fieldList = nil }
    }

    /// Leaves the texts in quotes that do not end on their line. The list goes on.
    mutating func leaveQuotesOfFieldList() {
        if let list = fieldList, list.quotes > 0 { fieldList = FieldList(quotes: 0, depth: depth, items: list.items) }
    }

    /// The index of the value that follows a name in a list; `nil` if the list does not consist of names and values.
    /// - Parameter end: The index after the name and the white space behind it.
    mutating func nextItem(after name: Name, in text: Quote, at end: Int) -> Int? {
        guard name.indentation == 0, !name.isPath, byte(at: end) == UInt8(ascii: ",") else { return nil }
        let value = skipBlanks(from: end + 1)
        guard symbol(at: value).byte.isQuote else { return nil }
        if let list = fieldList, list.quotes == quotes.count - 1, list.depth == depth(within: list.quotes) {
            guard list.items.isMultiple(of: 2) else { return nil }
            fieldList?.items += 1
            return value
        }
        return startsPair(text, isField: isFieldName(text, kind: name.kind)) ? value : nil
    }

    /// Whether a string is the first item of a pair: of a list or a tuple in a list, or of a tuple if the string is the
    /// name of a header field.
    private mutating func startsPair(_ text: Quote, isField: Bool) -> Bool {
        guard let bracket = bracket(before: text.start) else { return false }
        let isTuple = bytes[bracket] == UInt8(ascii: "(")
        guard isTuple || bytes[bracket] == UInt8(ascii: "[") else { return false }
        if isTuple, isField { return true }
        guard let outer = self.bracket(before: bracket) else { return false }
        if bytes[outer] == UInt8(ascii: "[") { return true }
        guard bytes[outer] == UInt8(ascii: ","), let last = self.bracket(before: outer) else { return false }
        return bytes[last] == (isTuple ? UInt8(ascii: ")") : UInt8(ascii: "]"))
    }

    /// The index of the last byte before another one that is not white space.
    private mutating func bracket(before start: Int) -> Int? {
        let end = endOfText(before: start, after: max(0, start - 1000))
        return end > 0 ? end - 1 : nil
    }

    /// Whether a name is one of a header field, and not of a column or an argument.
    private mutating func isFieldName(_ text: Quote, kind: Redaction.SecretKind) -> Bool {
        if kind == .authorization || kind == .cookie { return true }
        steps += index - text.start
        return bytes[text.start..<index].contains(UInt8(ascii: "-"))
    }
}
