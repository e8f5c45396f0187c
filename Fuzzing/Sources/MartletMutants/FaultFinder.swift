import Foundation

/// Finds the places in a file where a fault can be planted.
struct FaultFinder {
    let code: SwiftCode

    /// All faults, in the order of their kinds and places.
    func faults() -> [Fault] {
        operators() + constants() + negations() + conditions() + ternaries() + statements()
    }

    /// The ranges of the first group of an expression that matches judged code.
    private func matches(_ pattern: String) -> [Range<Int>] {
        let text = code.code(code.mask.indices)
        guard let expression = try? NSRegularExpression(pattern: pattern, options: .anchorsMatchLines) else {
            return []
        }
        return expression.matches(in: text, range: NSRange(location: 0, length: code.mask.count))
            .compactMap { Range($0.range(at: 1)) }
            .filter { code.isJudged[$0.lowerBound] }
    }

    private func operators() -> [Fault] {
        let faults: [String: [(Fault.Kind, String)]] = [
            "==": [(.comparison, "!=")], "!=": [(.comparison, "==")],
            "<": [(.boundary, "<="), (.comparison, ">=")], "<=": [(.boundary, "<"), (.comparison, ">")],
            ">": [(.boundary, ">="), (.comparison, "<=")], ">=": [(.boundary, ">"), (.comparison, "<")],
            "&&": [(.logic, "||")], "||": [(.logic, "&&")],
        ]
        return matches(#"(?<!func) (==|!=|<=?|>=?|&&|\|\|)(?= )"#).flatMap { range in
            (faults[code.text(range)] ?? []).map { Fault($0, code, range, $1) }
        }
    }

    private func constants() -> [Fault] {
        let words = matches(#"(?<![\w.$])(true|false|min(?=\()|max(?=\())(?!\w)"#).map { range in
            let word = code.text(range)
            let other = ["true": "false", "false": "true", "min": "max", "max": "min"][word] ?? ""
            let kind: Fault.Kind = word.hasPrefix("m") ? .boundary : .constant
            return Fault(kind, code, range, faulty: other, switched: "(§ ? \(other) : \(word))")
        }
        let numbers = matches(#"(?<![\w.$])([0-9][0-9_]*)(?!\w|\.\d)"#).compactMap { range -> Fault? in
            let number = code.text(range)
            guard let value = Int(number.replacing("_", with: "")) else { return nil }
            return Fault(.constant, code, range, faulty: "\(value + 1)", switched: "(§ ? \(value + 1) : \(number))")
        }
        return words + numbers
    }

    private func negations() -> [Fault] {
        matches(#"(?<=[\s(\[])(!)(?=[\w(])"#).compactMap { range in
            let end = endOfOperand(from: range.upperBound)
            let operand = code.text(range.upperBound..<end)
            return Fault(
                .negation, code, range.lowerBound..<end, faulty: operand, switched: "(§ == (\(operand)))")
        }
    }

    /// The end of an operand: names, calls, subscripts and members, up to one of the characters or a closing bracket.
    private func endOfOperand(from start: Int, at end: String = " ,:;\n") -> Int {
        var depth = 0
        for index in start..<code.mask.count {
            let character = Character(UnicodeScalar(code.mask[index]))
            if "([{".contains(character) { depth += 1 }
            if ")]}".contains(character) { depth -= 1 }
            if depth < 0 || depth == 0 && end.contains(character) { return index }
        }
        return code.mask.count
    }

    /// The conditions of `guard`, `if` and `while`, except bindings and patterns.
    private func conditions() -> [Fault] {
        matches(#"(?<![\w.])(guard|if|while)(?= )"#).flatMap { keyword -> [Fault] in
            let word = code.text(keyword)
            return clauses(from: keyword.upperBound, until: word == "guard" ? "else" : "{").compactMap { range in
                let clause = code.text(range)
                guard !code.code(range).contains(/^(?:let|var|case)\b|^#/), !clause.isEmpty else { return nil }
                return switch word {
                case "guard": Fault(.guardDropped, code, range, faulty: "true", switched: "(§ ? true : (\(clause)))")
                case "if":
                    Fault(.branchesSwapped, code, range, faulty: "!(\(clause))", switched: "(§ != (\(clause)))")
                default: Fault(.guardDropped, code, range, faulty: "false", switched: "(§ ? false : (\(clause)))")
                }
            }
        }
    }

    private func clauses(from start: Int, until end: String) -> [Range<Int>] {
        var (clauses, depth, first) = ([Range<Int>](), 0, start)
        for index in start..<code.mask.count {
            let character = Character(UnicodeScalar(code.mask[index]))
            let isEnd = depth == 0 && code.mask[index...].starts(with: end.utf8) && code.mask[index - 1] <= 32
            if isEnd || depth == 0 && character == "," {
                clauses.append(trimmed(first..<index))
                first = index + 1
            }
            if isEnd { return clauses }
            if "([{".contains(character) { depth += 1 }
            if ")]}".contains(character) { depth -= 1 }
            if depth < 0 { return [] }
        }
        return []
    }

    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        let first = range.first { code.mask[$0] > 32 } ?? range.upperBound
        let last = range.last { code.mask[$0] > 32 } ?? first
        return first..<max(first, min(last + 1, range.upperBound))
    }

    /// `a ? b : c` on one line. The condition begins after an assignment, a bracket, a comma, a label or `return`.
    private func ternaries() -> [Fault] {
        let condition = #"((?<=return |= |[(\[,:{] |[(\[]|^)[^\s(\[{,?:][^\n?:{},]*"#
        return matches(condition + #" \? [^\n?:{},]+ : [^\n:{},]+?)(?=$|[,})\]])"#).compactMap { match in
            let parts = code.text(match).components(separatedBy: " ? ")
            let branches = parts.last?.components(separatedBy: " : ") ?? []
            guard parts.count == 2, branches.count == 2 else { return nil }
            // The match ends before the first bracket, which may belong to the second branch.
            let second = match.upperBound - branches[1].utf8.count
            let end = endOfOperand(from: second, at: ",\n")
            let other = code.text(second..<end)
            return Fault(
                .branchesSwapped, code, match.lowerBound..<end, faulty: "\(parts[0]) ? \(other) : \(branches[0])",
                switched: "(§ != (\(parts[0]))) ? \(branches[0]) : \(other)")
        }
    }

    /// Whole statements on one line: calls, assignments, and statements that leave a block.
    private func statements() -> [Fault] {
        let lines = code.lines.map(trimmed).filter { !$0.isEmpty }
        return lines.indices.compactMap { index in
            let (range, text) = (lines[index], code.code(lines[index]))
            let before = index > 0 ? code.code(lines[index - 1]) : "{"
            let after = index + 1 < lines.count ? code.code(lines[index + 1]) : "}"
            guard code.isJudged[range.lowerBound], code.isStatement[range.lowerBound],
                code.isStatement[range.upperBound], !text.contains("{"), !text.contains("}"),
                !before.contains(/(?:[-+*\/%&|<>=?,(\[.]|\b(?:return|in|else|throws))$|^@/) || before.hasSuffix(" in"),
                !after.contains(/^(?:[.?:&|+*\/<>=]|- |\?\?)/),
                !text.contains(
                    /^(?:let|var|guard|if|else|for|while|switch|case|default|func|typealias|import|[-.#@+*\/%&|?:=<>])/),
                text.contains(/^(?:return|throw|break|continue)\b|\)$|\s[-+*\/|&]?=\s/)
            else { return nil }
            let statement = code.text(range)
            return Fault(
                .statementDropped, code, range, faulty: "(nothing)", switched: "if !§ { \(statement) }")
        }
    }
}
