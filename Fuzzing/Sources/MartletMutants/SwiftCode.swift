import Foundation

/// A Swift file, with the bytes that are code and can be judged by the tests.
struct SwiftCode {
    let path: String
    let bytes: [UInt8]
    /// The file with comments and string literals blanked. The bytes keep their positions, and all of them are ASCII.
    private(set) var mask: [UInt8]
    /// Whether each byte belongs to a function in a region that this build compiles.
    private(set) var isJudged: [Bool]
    /// Whether a statement can begin at each byte, because no parenthesis is open within the enclosing brace.
    private(set) var isStatement: [Bool]

    init(path: String, text: String, traits: Set<String>) {
        self.path = path
        bytes = Array(text.utf8)
        mask = bytes.map { $0 < 128 ? $0 : UInt8(ascii: "_") }
        isJudged = Array(repeating: false, count: bytes.count)
        isStatement = isJudged
        hideCommentsAndTexts()
        findFunctions()
        leaveOutInactiveRegions(traits)
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    func code(_ range: Range<Int>) -> String { String(decoding: mask[range], as: UTF8.self) }

    /// The ranges of the lines, without their ends.
    var lines: [Range<Int>] {
        var start = 0
        return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            defer { start += line.count + 1 }
            return start..<start + line.count
        }
    }

    private func has(_ text: String, at index: Int) -> Bool { mask[index...].starts(with: text.utf8) }

    private mutating func hide(_ range: Range<Int>, with byte: Character) {
        for index in range where mask[index] != UInt8(ascii: "\n") { mask[index] = byte.asciiValue ?? 0 }
    }

    private mutating func hideCommentsAndTexts() {
        var index = 0
        while index < mask.count {
            if has("//", at: index) {
                let end = mask[index...].firstIndex(of: UInt8(ascii: "\n")) ?? mask.count
                hide(index..<end, with: " ")
                index = end
            } else if has("\"", at: index) || has("#\"", at: index) {
                let end = endOfText(from: index)
                hide(index + 1..<max(index + 1, end - 1), with: "_")
                index = end
            } else {
                index += 1
            }
        }
    }

    /// The index after a string literal, whose interpolations may contain literals.
    private func endOfText(from start: Int) -> Int {
        let hashes = String(repeating: "#", count: mask[start...].prefix { $0 == UInt8(ascii: "#") }.count)
        let quotes = has(hashes + "\"\"\"", at: start) ? "\"\"\"" : "\""
        var index = start + hashes.utf8.count + quotes.utf8.count
        var depth = 0
        while index < mask.count {
            if depth == 0, has(quotes + hashes, at: index) { return index + quotes.utf8.count + hashes.utf8.count }
            if depth == 0, has("\\" + hashes + "(", at: index) {
                depth = 1
                index += hashes.utf8.count + 2
            } else if depth == 0 {
                index += has("\\" + hashes, at: index) ? 2 : 1
            } else if has("\"", at: index) {
                index = endOfText(from: index)
            } else {
                depth += has("(", at: index) ? 1 : has(")", at: index) ? -1 : 0
                index += 1
            }
        }
        return mask.count
    }

    private mutating func findFunctions() {
        enum Opener { case type, function, bracket }
        var openers: [Opener] = []
        var header = 0
        for index in mask.indices {
            isJudged[index] = openers.last { $0 != .bracket } == .function
            isStatement[index] = openers.last == .function
            switch Character(UnicodeScalar(mask[index])) {
            case "{":
                let isType = code(header..<index).contains(
                    /\b(?:struct|class|enum|actor|extension|protocol)\s+[A-Z]/)
                openers.append(isType ? .type : .function)
                header = index + 1
            case "(", "[": openers.append(.bracket)
            case "}":
                openers = openers.dropLast()
                header = index + 1
            case ")", "]": openers = openers.dropLast()
            default: break
            }
        }
    }

    /// Leaves out regions whose conditions do not hold on Linux. Their tests run elsewhere.
    private mutating func leaveOutInactiveRegions(_ traits: Set<String>) {
        let known = traits.union([
            "os(Linux)", "canImport(FoundationEssentials)", "canImport(FoundationNetworking)", "canImport(Glibc)",
        ])
        var regions: [(isActive: Bool, mayHaveElse: Bool)] = []
        for line in lines {
            let code = code(line).trimmingCharacters(in: .whitespaces)
            if code.hasPrefix("#if ") {
                let terms = code.dropFirst(4).components(separatedBy: " || ")
                // An `#else` branch is judged only if the condition names a single platform.
                regions.append((terms.contains(where: known.contains), code.hasPrefix("#if os(") && terms.count == 1))
            } else if code.hasPrefix("#else"), let region = regions.popLast() {
                let isActive = code == "#else" && region.mayHaveElse && !region.isActive
                regions.append((isActive, false))
            } else if code.hasPrefix("#endif") {
                _ = regions.popLast()
            }
            guard code.hasPrefix("#") || !regions.allSatisfy(\.isActive) else { continue }
            for index in line { isJudged[index] = false }
        }
    }
}
