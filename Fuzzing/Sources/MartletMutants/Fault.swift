/// A deliberate fault that replaces some code of a function.
struct Fault {
    /// The change that the fault makes.
    enum Kind: String {
        case comparison, boundary, logic, negation, constant
        case guardDropped = "guard dropped"
        case statementDropped = "statement dropped"
        case branchesSwapped = "branches swapped"
    }

    let kind: Kind
    let code: SwiftCode
    /// The place in the file.
    let range: Range<Int>
    let faulty: String
    /// The code that has the fault when the switch with this number is on, and the declaration that it needs. All
    /// faults of a run are compiled at once, because a build takes longer than the tests.
    let switched: (_ number: Int) -> (code: String, declaration: String)

    var line: Int { 1 + code.bytes[..<range.lowerBound].count { $0 == UInt8(ascii: "\n") } }
    var lastLine: Int { line + code.bytes[range].count { $0 == UInt8(ascii: "\n") } }
    var place: String { "\(code.path):\(line)" }

    /// The lines of the fault, before and after.
    var change: (before: String, after: String) {
        let newline = UInt8(ascii: "\n")
        let start = code.bytes[..<range.lowerBound].lastIndex(of: newline).map { $0 + 1 } ?? 0
        let end = code.bytes[range.upperBound...].firstIndex(of: newline) ?? code.bytes.count
        let after = code.text(start..<range.lowerBound) + faulty + code.text(range.upperBound..<end)
        return (oneLine(code.text(start..<end)), oneLine(after))
    }

    private func oneLine(_ text: String) -> String {
        text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    }
}

extension Fault {
    /// A fault in an expression or a statement. In its code, § stands for the state of the switch.
    init(_ kind: Kind, _ code: SwiftCode, _ range: Range<Int>, faulty: String, switched: String) {
        self.init(kind: kind, code: code, range: range, faulty: faulty) { number in
            (switched.replacing("§", with: "isFaulty(\(number))"), "")
        }
    }

    /// A fault in an operator. It is replaced by an operator of the same precedence that obeys the switch.
    init(_ kind: Kind, _ code: SwiftCode, _ range: Range<Int>, _ faulty: String) {
        let sound = code.text(range)
        self.init(kind: kind, code: code, range: range, faulty: faulty) { number in
            // Encode the number in the operator's name. An operator can have neither letters nor digits.
            let name = sound + String(number, radix: 2).map { $0 == "0" ? "†" : "‡" }.joined()
            let declaration: String
            switch sound {
            case "&&", "||":
                declaration = """
                    infix operator \(name): \(sound == "&&" ? "LogicalConjunction" : "LogicalDisjunction")Precedence
                    func \(name) (one: Bool, other: @autoclosure () throws -> Bool) rethrows -> Bool {
                        isFaulty(\(number)) ? try (one \(faulty) other()) : try (one \(sound) other())
                    }
                    """
            case "==", "!=":
                declaration = """
                    infix operator \(name): ComparisonPrecedence
                    func \(name) <T: Equatable>(one: T, other: T) -> Bool {
                        isFaulty(\(number)) ? one \(faulty) other : one \(sound) other
                    }
                    @_disfavoredOverload
                    func \(name) <T>(one: T?, other: _OptionalNilComparisonType) -> Bool {
                        isFaulty(\(number)) ? one \(faulty) other : one \(sound) other
                    }
                    """
            default:
                declaration = """
                    infix operator \(name): ComparisonPrecedence
                    func \(name) <T: Comparable>(one: T, other: T) -> Bool {
                        isFaulty(\(number)) ? one \(faulty) other : one \(sound) other
                    }
                    """
            }
            return (name, declaration)
        }
    }
}
