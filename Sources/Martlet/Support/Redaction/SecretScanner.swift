/// Reads text once, from start to end, and copies it with each secret replaced by the mask.
///
/// The text may be JSON, XML, a form, header fields, a URL, prose, or any of these inside another. There is no single
/// document to parse. A run of token characters is a token, a name or a word, and the text around a name decides which
/// grammar its value follows. Values are in `SecretScanner+Values.swift`, the members of objects in
/// `SecretScanner+Members.swift`, values before their names in `SecretScanner+UnnamedValues.swift`, names in lists in
/// `SecretScanner+Lists.swift`, elements in `SecretScanner+Markup.swift`, and escapes and entities in
/// `SecretScanner+Characters.swift`.
///
/// The time is linear in the length of the text. Each look-ahead consumes what it has read, ends at the next place
/// where another one could start, or is remembered so that no other one reads the same text again.
struct SecretScanner {
    let bytes: [UInt8]
    /// Whether runs of characters that look like tokens are masked.
    let masksRuns: Bool
    /// Whether only the segments of a path that look like tokens are masked.
    let keepsPaths: Bool
    /// The number of times that the text was percent-decoded.
    let decodings: Int

    /// The number of bytes examined, repeated reads included.
    var steps = 0
    var index = 0
    /// The ranges to replace, in the order of their starts. A range without text is kept.
    var replacements: [(range: Range<Int>, text: String)] = []

    var line = Line()
    /// The texts in quotes around the index, innermost last.
    var quotes: [Quote] = []
    /// The number of brackets that are open outside of all quotes.
    var depth = 0
    /// The tags around the index, innermost last. The attribute of a tag may be a document with tags of its own.
    var tags: [Tag] = []
    /// For each element that ends in the text, the index of its last closing tag. Found when first needed.
    var closings: [ArraySlice<UInt8>: Int]?

    /// For each reader, the subscripts that it has read after a name without finding a value to mask, and those that it
    /// has read after a name in quotes. A name within them need not read them again.
    var readSubscripts = [(first: Range<Int>, quoted: Range<Int>)](repeating: (0..<0, 0..<0), count: 4)

    private var run = Run()
    /// The index after an escape such as `\t`, which could also be a backslash before a name: `C:\token`.
    private var escaped: (end: Int, letter: UInt8)?
    /// The outermost object around the index that has the name of a token.
    var tokenObject: Scope?
    /// The object or the tag around the index in which the name of a secret is the value of a member, as in
    /// `"name": "password"`.
    var pair: Scope?
    /// The kind of secret that the member of `pair` names.
    var pairKind = Redaction.SecretKind.other
    /// The index of the name of a value that directly follows the name of a secret.
    var pairedValue: Int?
    /// The number of open elements inside the element around the index, if one of its children has the name of a secret
    /// as its text, as in `<name>password</name>`; otherwise `nil`.
    var elementPair: Int?
    /// The number of elements around the index.
    var elementDepth = 0
    /// The element around the index that may hold a value whose name follows it, and its place in `replacements`.
    var openValue: (name: ArraySlice<UInt8>, place: Int)?
    /// The texts of such elements before the index, as in `<value>…</value><name>password</name>`.
    var unnamedTexts: [UnnamedText] = []
    /// The list around the index in which a value follows each name.
    var fieldList: FieldList?
    /// The values in the objects and the tag around the index whose names may follow them, innermost last.
    var unnamedValues: [UnnamedValue] = []

    /// The line of the index.
    struct Line {
        var start = 0
        /// Whether only white space and marks such as `- ` and `> ` precede the index on its line or in its quotes, so
        /// that a header field may start here.
        var isAtStart = true
        /// The level of the escape if the line break before the line is one, such as `\n`; otherwise `nil`.
        var escapes: Int?
    }

    /// The innermost tag around the index.
    var tag: Tag? { tags.last }

    /// A quotation mark that opens quoted text.
    struct Quote {
        let mark: UInt8
        /// The depth of the escapes before the mark; see `Symbol.level`.
        let level: Int
        /// The index of the mark.
        var start = 0
        /// The number of brackets that are open in the text.
        var depth = 0
    }

    /// An object or a tag around the index.
    struct Scope {
        /// The number of brackets that have opened in it.
        var depth: Int
        /// The number of texts in quotes around it.
        var quotes: Int
        /// The depth of the tag if the scope is one.
        var tag: Int?
        /// Whether it ends with its line, because no bracket may close it.
        var endsAtLine = false
        /// Whether it ends at the next name, because it is an item of a list in YAML.
        var endsAtName = false
    }

    /// A name and its position.
    struct Name {
        var kind = Redaction.SecretKind.other
        /// Whether a header field may start with the name.
        var startsField = false
        /// The number of bytes before the name on its line.
        var indentation = 0
        /// The number of bytes from the first word to the last one, as in `API Key`; otherwise 0.
        var firstWord = 0
        /// Whether the name is the end of a path.
        var isPath = false
    }

    init(_ text: String, masksRuns: Bool, keepsPaths: Bool = false, decodings: Int = 0) {
        bytes = Array(text.utf8)
        self.masksRuns = masksRuns
        self.keepsPaths = keepsPaths
        self.decodings = decodings
    }

    /// The text with secrets masked; `nil` if there are none.
    mutating func masked() -> String? {
        while index < bytes.count { takeNext() }
        replacements.removeAll { $0.text.isEmpty }
        guard !replacements.isEmpty else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var copied = 0
        for (range, text) in replacements {
            // A range within a value that is masked because of a later name.
            guard range.lowerBound >= copied else {
                copied = max(copied, range.upperBound)
                continue
            }
            output.append(contentsOf: bytes[copied..<range.lowerBound])
            output.append(contentsOf: text.utf8)
            copied = range.upperBound
        }
        output.append(contentsOf: bytes[copied...])
        return String(decoding: output, as: UTF8.self)
    }

    /// Replaces a range with the mask or another text, and continues after it.
    mutating func replace(_ range: Range<Int>, with text: String = Redaction.mask) {
        steps += range.count
        insert(range, text)
        index = range.upperBound
    }

    private mutating func takeNext() {
        if byte(at: index).isTokenCharacter { return takeRun() }
        let symbol = symbol(at: index)
        let end = index + symbol.length
        switch symbol.byte {
        case let byte where byte.isTokenCharacter: takeRun()
        case UInt8(ascii: "<"): takeTagStart(symbol)
        case UInt8(ascii: ">"): takeTagEnd(symbol)
        case UInt8(ascii: ":"): takeColon()
        case let byte where byte.isQuote:
            note(symbol, at: index)
            index = end
        case let byte where byte.isBlank:
            endWord(before: symbol)
            if byte.isLineBreak { startLine(at: end, escapes: symbol.isEscape ? symbol.level : nil) }
            escaped = symbol.escapedLetter.map { (end, $0) }
            index = end
        default:
            if "{[(".utf8.contains(symbol.byte) { countBrackets(1) }
            if "}])".utf8.contains(symbol.byte) {
                countBrackets(-1)
                leaveBrackets(at: end)
            }
            endWord(before: symbol)
            if symbol.byte == UInt8(ascii: ",") { countItem() }
            let isMark = "*|#".utf8.contains(symbol.byte)
            line.isAtStart = line.isAtStart && isMark
            index = end
        }
    }

    private mutating func startLine(at start: Int, escapes: Int?) {
        line = Line(start: start, escapes: escapes)
        // An apostrophe or an inch mark must not count as an open quote for the rest of the text.
        if escapes == nil {
            quotes.removeAll()
            tokenObject?.quotes = 0
            pair?.quotes = 0
            if pair?.endsAtLine == true { pair = nil }
            leaveQuotesOfLine(at: start)
            leaveQuotesOfFieldList()
        }
    }

    /// Opens or closes a quoted text.
    mutating func note(_ symbol: Symbol, at start: Int) {
        line.isAtStart = false
        let isOpen = { (quote: Quote) in quote.mark == symbol.byte && quote.level >= symbol.level }
        // A mark closes the text of its own level, with those in it that have not been closed.
        if let open = quotes.lastIndex(where: { isOpen($0) && $0.level == symbol.level })
            ?? quotes.lastIndex(where: isOpen)
        {
            quotes.removeSubrange(open...)
            leaveScopes(at: start + symbol.textLength)
        } else if quotes.count < 8, !(symbol.byte == UInt8(ascii: "'") && isWord(at: start - 1)) {
            quotes.append(Quote(mark: symbol.byte, level: symbol.level, start: start))
            line = Line(start: start + symbol.length)
        }
    }

    /// Opens and closes the quoted texts of a range, and continues after it.
    mutating func pass(to end: Int) {
        while index < end {
            let symbol = symbol(at: index)
            if symbol.byte.isQuote { note(symbol, at: index) }
            index += symbol.length
        }
        index = end
        line.isAtStart = false
    }

    /// Whether the byte at an index is a letter, a digit, or part of a character beyond ASCII.
    mutating func isWord(at index: Int) -> Bool {
        let byte = byte(at: index)
        return byte.isLetter || byte.isDigit || byte >= 0x80
    }
}

// MARK: - Runs

extension SecretScanner {
    /// A run of token characters.
    private struct Run {
        /// The letters after the last slash.
        var letters = Redaction.NameLetters()
        var count = 0
        var hasPercent = false
        var hasSlash = false
        var hasDot = false
        /// Whether the slashes divide the run into pieces, one of which looks like a token.
        var hasTokenPiece = false
        private var piece = (count: 0, hasDigit: false, hasLetter: false)

        /// - Parameter letter: The letter of an escape before the run, which may belong to a token.
        mutating func removeAll(after letter: UInt8?) {
            letters.removeAll()
            (count, piece) = (0, letter == nil ? (0, false, false) : (1, false, true))
            (hasPercent, hasSlash, hasDot, hasTokenPiece) = (false, false, false, false)
        }

        mutating func append(_ byte: UInt8, isLetterOfName: Bool = true) {
            count += 1
            if isLetterOfName { letters.append(byte) }
            if byte == UInt8(ascii: ".") { hasDot = true }
            if byte == UInt8(ascii: "/") {
                hasSlash = true
                letters.removeAll()
                piece = (0, false, false)
            } else {
                piece.count += 1
                piece.hasDigit = piece.hasDigit || byte.isDigit
                piece.hasLetter = piece.hasLetter || byte.isLetter
                // A word of 20 letters has no digits.
                if piece.count >= 20, piece.hasDigit, piece.hasLetter { hasTokenPiece = true }
            }
        }
    }

    /// Reads the run at the index into `run`, and continues after it.
    private mutating func readRun(after letter: UInt8?) {
        run.removeAll(after: letter)
        while index < bytes.count {
            let byte = byte(at: index)
            if byte == UInt8(ascii: "%"), let high = PercentEncoding.hexValue(self.byte(at: index + 1)),
                let low = PercentEncoding.hexValue(self.byte(at: index + 2))
            {
                run.hasPercent = true
                run.letters.append(high << 4 | low)
                for offset in 0..<3 { run.append(bytes[index + offset], isLetterOfName: false) }
                index += 3
            } else if byte.isTokenCharacter {
                run.append(byte)
                index += 1
            } else {
                guard byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "&") else { return }
                let symbol = symbol(at: index)
                guard symbol.byte.isTokenCharacter else { return }
                run.append(symbol.byte)
                index += symbol.length
            }
        }
    }

    private mutating func takeRun() {
        let start = index
        if masksUser(after: start) { return }
        let startsField = line.isAtStart
        line.isAtStart = line.isAtStart && bytes[start] == UInt8(ascii: "-")
        let letter = escaped.flatMap { $0.end == start ? $0.letter : nil }
        readRun(after: letter)
        if startsField, quotes.isEmpty { leaveLines(at: start) }
        if line.isAtStart, run.letters.all.isEmpty, !run.hasSlash { return }
        line.isAtStart = false
        let isJWT = run.count >= 12 && hasJWT(start..<index)
        let decoded = decodedRun(start..<index)
        // The last segment of a path may be a name, as in `/verify/token=…`.
        let isPath = keepsPaths && bytes[start] == UInt8(ascii: "/")
        if isPath { takePath(from: start) }
        let isSecret = !isPath && (isJWT || masksRuns && run.hasTokenPiece || isSecretWhenDecoded(decoded))
        if isSecret { replace(start..<index) }
        if !isSecret, isScheme, maskCredentials() { return }
        var name = Name(startsField: startsField, indentation: start - line.start, isPath: run.hasSlash)
        guard
            let kind = kind(after: letter, at: start) ?? kindOfTwoWords(of: &name, endingAt: start)
                ?? decoded.flatMap({ kind(ofDecoded: $0) })
        else {
            noteFieldList(named: run.letters.all)
            return noteUnnamedValue(of: name, run.letters.all)
        }
        name.kind = kind
        if isSecret { name.startsField = false }
        maskValue(of: name)
    }

    /// The Base64 of a brace and white space.
    private static let spacedHeaders = ["eyA", "ewo", "ew0", "ewk"].map { Array($0.utf8) }

    /// Whether a JWT starts in a run: at its start, or after a mark. If white space follows the brace of its header, only
    /// the two dots tell it from a word.
    private mutating func hasJWT(_ range: Range<Int>) -> Bool {
        steps += range.count
        let hasDots = bytes[range].lazy.filter { $0 == UInt8(ascii: ".") }.dropFirst().first != nil
        return range.dropLast(11).contains { start in
            guard start == range.lowerBound || !isWord(at: start - 1) else { return false }
            let text = bytes[start...]
            return text.starts(with: "eyJ".utf8)
                || hasDots && Self.spacedHeaders.contains { text.starts(with: $0) }
        }
    }

    private var isScheme: Bool {
        run.letters.all.count == run.count && Redaction.schemes.contains(run.letters.all)
    }

    /// The kind of secret that the run announces.
    private mutating func kind(after letter: UInt8?, at start: Int) -> Redaction.SecretKind? {
        var letters = run.letters
        steps += letters.all.count
        if let kind = Redaction.kind(of: letters) { return kind }
        if let kind = kindOfMember(letters.all, at: start) { return kind }
        if let letter {
            letters = Redaction.NameLetters()
            letters.append(letter)
            for byte in run.letters.all { letters.append(byte) }
            return Redaction.kind(of: letters)
        }
        return nil
    }

    /// The kind of secret that the run announces together with the word before it, as in `"API Key"`.
    private mutating func kindOfTwoWords(of name: inout Name, endingAt start: Int) -> Redaction.SecretKind? {
        guard start > line.start, Redaction.lastWords.contains(run.letters.all) else { return nil }
        let blank = symbol(before: start, after: line.start)
        guard blank.byte == 32 else { return nil }
        let (word, first) = word(before: start - blank.length, after: line.start, limit: Redaction.longestFirstWord)
        var letters = Redaction.NameLetters()
        for byte in word + run.letters.all { letters.append(byte) }
        guard let kind = Redaction.kind(ofTwoWords: letters) else { return nil }
        name.firstWord = start - first
        return kind
    }

    private mutating func takePath(from start: Int) {
        let path = String(decoding: bytes[start..<index], as: UTF8.self)
        let redacted = Redaction.redactPath(path[...], steps: &steps)
        if redacted != path { replace(start..<index, with: redacted) }
    }

    /// The text of a run with percent escapes. Text is decoded twice at most.
    private mutating func decodedRun(_ range: Range<Int>) -> String? {
        guard run.hasPercent, decodings < 2 else { return nil }
        let text = String(decoding: bytes[range], as: UTF8.self)
        let decoded = PercentEncoding.decode(text)
        steps += range.count
        return decoded == text ? nil : decoded
    }

    /// The kind of secret that a name with percent escapes announces, which may be escaped twice.
    private mutating func kind(ofDecoded name: String) -> Redaction.SecretKind? {
        if let kind = Redaction.kind(named: name) { return kind }
        guard name.utf8.contains(UInt8(ascii: "%")) else { return nil }
        steps += name.utf8.count
        return Redaction.kind(named: PercentEncoding.decode(name))
    }

    private mutating func isSecretWhenDecoded(_ decoded: String?) -> Bool {
        guard let decoded else { return false }
        return Redaction.redact(decoded, masksRuns: masksRuns, decodings: decodings + 1, steps: &steps) != decoded
    }
}
