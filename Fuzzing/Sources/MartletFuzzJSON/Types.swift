import Foundation

struct Person: Decodable, CustomStringConvertible {
    enum Role: String, Decodable {
        case reader
        case writer
    }

    let id: Int
    let name: String?
    let createdAt: Date?
    let role: Role?
    let tags: [String]?
    let k: Double?

    // The description of a date that is not a number traps.
    var description: String {
        let created = createdAt.map(\.timeIntervalSinceReferenceDate.bitPattern)
        return "\(id) \(name ?? "-") \(created ?? 0) \(role?.rawValue ?? "-") \(tags ?? []) \(k ?? 0)"
    }
}

struct Tree: Decodable {
    let children: [Tree]

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        var children: [Tree] = []
        while !container.isAtEnd { children.append(try container.decode(Tree.self)) }
        self.children = children
    }

    var depth: Int { 1 + (children.map(\.depth).max() ?? 0) }
}

/// Something that decodes a type.
protocol Source {
    mutating func read<Value: Decodable>(_ type: Value.Type) throws -> Value?
}

/// The types that probes decode, and their values as text.
enum Types {
    static let count = 33

    static func read(_ index: Int, from source: inout some Source) throws -> String {
        switch index {
        case 0: try text(source.read([Int].self))
        case 1: try text(source.read([Double].self)?.map(\.bitPattern))
        case 2: try text(source.read([String].self)?.map { Array($0.utf8) })
        case 3: try text(source.read([Bool].self))
        case 4: try text(source.read([Float].self)?.map(\.bitPattern))
        case 5: try text(source.read([UInt8].self))
        case 6: try text(source.read([Int?].self))
        case 7: try text(source.read([[Int]].self))
        case 8: try text(source.read(Date.self)?.timeIntervalSinceReferenceDate.bitPattern)
        case 9: try text(source.read(Date?.self)??.timeIntervalSinceReferenceDate.bitPattern)
        case 10: try text(source.read([Date].self)?.map(\.timeIntervalSinceReferenceDate.bitPattern))
        case 11: try text(source.read(Data.self).map { Array($0) })
        case 12: try text(source.read(URL.self)?.absoluteString)
        case 13: try text(source.read(Decimal.self))
        case 14: try text(source.read(Person.self))
        case 15: try text(source.read([Person].self))
        case 16: try text(source.read(Person.Role.self))
        case 17: try text(source.read(Tree.self)?.depth)
        case 18: try text(source.read(Int.self))
        case 19: try text(source.read(UInt8.self))
        case 20: try text(source.read(Double.self)?.bitPattern)
        case 21: try text(source.read(String.self).map { Array($0.utf8) })
        case 22: try text(source.read(Bool?.self))
        case 23: try text(source.read(Int64.self))
        case 24: try text(source.read(Float?.self)??.bitPattern)
        case 25: try text(source.read(Set<Int>.self)?.sorted())
        case 26: try text(source.read(Int32.self))
        case 27: try text(source.read([URL?].self))
        case 28: try members(source.read([String: Int].self))
        case 29: try members(source.read([String: [Double]].self))
        case 30: try members(source.read([String: Date].self)?.mapValues(\.timeIntervalSinceReferenceDate.bitPattern))
        case 31: try members(source.read([String: [String: Bool]].self)?.mapValues { members($0) })
        default: try members(source.read([Int: String].self))
        }
    }

    /// Foundation reads dictionaries in no defined order, so it is a matter of chance which of several errors it
    /// reports.
    static func isUnordered(_ index: Int) -> Bool { index >= 28 }

    private static func text(_ value: (some Any)?) -> String { value.map { "\($0)" } ?? "nil" }

    private static func members(_ value: [some Hashable: some Any]?) -> String {
        value.map { $0.map { "\($0.key): \($0.value)".precomposedStringWithCanonicalMapping }.sorted().description }
            ?? "nil"
    }
}
