#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An archive of `NSKeyedArchiver` in its binary format.
///
/// The archive is a property list with the objects in one array, `$objects`. Objects refer to each other with UIDs,
/// which are indexes of that array; index 0 stands for `nil`. `$top` refers to the archived object.
struct KeyedArchive: Sendable {
    private let list: BinaryPropertyList
    private let objects: [Int]
    private let roots: [Int]

    init(_ data: Data) throws(RecordProblem) {
        guard data.count <= largestRecord else {
            throw RecordProblem(.tooLarge, "the data is larger than 1 MB")
        }
        list = try BinaryPropertyList(data)
        // The archiver writes four entries. Limit their number, because nothing has been checked yet.
        guard case .dictionary(let pairs) = try list.value(at: list.top), pairs.count <= 16 else {
            throw .foreign("the property list is not a keyed archive")
        }
        let top = try Self.entries(pairs, in: list)
        guard let archiver = top["$archiver"], case .string("NSKeyedArchiver") = try list.value(at: archiver),
            let objects = top["$objects"], case .array(let indexes) = try list.value(at: objects),
            let root = top["$top"]
        else { throw .foreign("the property list is not a keyed archive") }
        self.objects = indexes
        try ArchiveGraph(list, objects: indexes).check()
        guard case .dictionary(let pairs) = try list.value(at: root) else {
            throw .damaged("the archive does not say which object it holds")
        }
        roots = try Self.entries(pairs, in: list).sorted { $0.key < $1.key }.map(\.value)
    }

    /// The archived object, if it is of a class or a subclass of it.
    /// - Parameter names: The Objective-C names of the class.
    func root(_ names: String...) throws(RecordProblem) -> ArchivedObject {
        for root in roots {
            if case .object(let object) = try content(of: root), names.contains(where: object.isA) { return object }
        }
        throw .foreign("the archive holds no object of the class that this library stores")
    }

    /// The content of an entry, with its UID resolved; `nil` for the UID of `nil`.
    func content(of index: Int) throws(RecordProblem) -> Content? {
        let value = try list.value(at: index)
        guard case .uid(let uid) = value else { return try content(of: value) }
        if uid == 0 { return nil }
        guard uid < objects.count else { throw .damaged("an object refers to a missing one") }
        return try content(of: try list.value(at: objects[uid]))
    }

    private func content(of value: BinaryPropertyList.Value) throws(RecordProblem) -> Content {
        switch value {
        case .boolean(let flag): .flag(flag)
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .string(let text): .text(text)
        case .array(let elements): .list(elements)
        case .dictionary(let pairs): .object(ArchivedObject(try Self.entries(pairs, in: list), in: self))
        case .uid, .other: .other
        }
    }

    private static func entries(
        _ pairs: [(key: Int, value: Int)], in list: BinaryPropertyList
    ) throws(RecordProblem) -> [String: Int] {
        var entries: [String: Int] = [:]
        for (key, value) in pairs {
            guard case .string(let name) = try list.value(at: key) else { throw .damaged("a key is not a string") }
            entries[name] = value
        }
        return entries
    }

    /// A value as `NSKeyedArchiver` encoded it.
    enum Content {
        case flag(Bool)
        case integer(Int64)
        case real(Double)
        case text(String)
        case list([Int])
        case object(ArchivedObject)
        case other
    }
}

/// An object of a ``KeyedArchive``, with the values that its class encoded by key.
struct ArchivedObject: Sendable {
    private let entries: [String: Int]
    private let archive: KeyedArchive

    init(_ entries: [String: Int], in archive: KeyedArchive) {
        self.entries = entries
        self.archive = archive
    }

    /// Whether this is an object of a class, or of a subclass.
    func isA(_ name: String) -> Bool {
        guard case .object(let type) = try? content("$class") else { return false }
        if case .text(name) = try? type.content("$classname") { return true }
        guard case .list(let names) = try? type.content("$classes") else { return false }
        return names.contains {
            if case .text(name) = try? archive.content(of: $0) { true } else { false }
        }
    }

    /// An `NSString`; `nil` if there is none.
    func string(_ key: String) throws(RecordProblem) -> String? {
        switch try content(key) {
        case nil: return nil
        case .text(let text): return text
        // A mutable string is archived as an object.
        case .object(let object) where object.isA("NSString"): return try object.string("NS.string")
        default: throw .damaged("a string has the wrong type")
        }
    }

    /// An `NSDate`; `nil` if there is none.
    func date(_ key: String) throws(RecordProblem) -> Date? {
        guard let content = try content(key) else { return nil }
        guard case .object(let object) = content, object.isA("NSDate"), let seconds = try object.content("NS.time")
        else {
            throw .damaged("a date has the wrong type")
        }
        switch seconds {
        case .real(let seconds) where seconds.isFinite: return Date(timeIntervalSinceReferenceDate: seconds)
        case .integer(let seconds): return Date(timeIntervalSinceReferenceDate: Double(seconds))
        default: throw .damaged("a date is not a number")
        }
    }

    /// A `BOOL`; `false` if there is none.
    func flag(_ key: String) throws(RecordProblem) -> Bool {
        switch try content(key) {
        case nil: false
        case .flag(let flag): flag
        case .integer(let number): number != 0
        default: throw .damaged("a flag has the wrong type")
        }
    }

    /// Whether there is a value that is not `nil`.
    func has(_ key: String) throws(RecordProblem) -> Bool {
        try content(key) != nil
    }

    /// An object of a class, or of a subclass; `nil` if there is none.
    func object(_ key: String, _ name: String) throws(RecordProblem) -> ArchivedObject? {
        switch try content(key) {
        case nil: return nil
        case .object(let object) where object.isA(name): return object
        default: throw .damaged("an object has the wrong class")
        }
    }

    /// The strings, numbers and flags of an `NSDictionary`, each as text. Nested values are left out.
    func fields(_ key: String) throws(RecordProblem) -> [String: String] {
        guard let dictionary = try object(key, "NSDictionary") else { return [:] }
        guard case .list(let keys) = try dictionary.content("NS.keys"),
            case .list(let values) = try dictionary.content("NS.objects"), keys.count == values.count
        else { throw .damaged("a dictionary is incomplete") }
        var fields: [String: String] = [:]
        for (key, value) in zip(keys, values) {
            guard case .text(let name) = try archive.content(of: key) else { continue }
            switch try archive.content(of: value) {
            case .text(let text): fields[name] = text
            case .integer(let number): fields[name] = String(number)
            case .real(let number): fields[name] = String(number)
            case .flag(let flag): fields[name] = String(flag)
            default: continue
            }
        }
        return fields
    }

    private func content(_ key: String) throws(RecordProblem) -> KeyedArchive.Content? {
        guard let entry = entries[key] else { return nil }
        return try archive.content(of: entry)
    }
}
