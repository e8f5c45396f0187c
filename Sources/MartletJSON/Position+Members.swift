#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension Position {
    /// The value of a key; ``Tape/absent`` if the object does not have it.
    ///
    /// The key after the last one found comes first, because types usually ask in the order of the document. Objects
    /// that could have a key twice, or a key outside plain ASCII, have a dictionary instead.
    func find(_ name: String) -> UInt32 {
        if let members { return members[name] ?? Tape.absent }
        if let found = name.utf8.withContiguousStorageIfAvailable(findNext), found != Tape.absent { return found }
        return search(name)
    }

    /// The value of the next key, if it has the name.
    @inline(__always)
    private func findNext(_ name: UnsafeBufferPointer<UInt8>) -> UInt32 {
        let key = nextKey
        guard let bytes = name.baseAddress, key < document.end(value),
            KeyWord.isPlain(document.tape[Int(key) + 1], length: name.count),
            areEqual(document.bytes + Int(document.tape[Int(key)]) + 1, bytes, name.count)
        else { return Tape.absent }
        return found(key)
    }

    @inline(never)
    private func search(_ name: String) -> UInt32 {
        var name = name
        let (found, isASCII) = name.withUTF8 { text -> (UInt32, Bool) in
            guard let bytes = text.baseAddress else { return (search(document.bytes, 0), true) }
            let found = search(bytes, text.count)
            return (found, found != Tape.absent || text.allSatisfy { $0 < 0x80 })
        }
        if found != Tape.absent || isASCII { return found }
        // A string outside ASCII can equal a plain one: U+212A is K.
        members = try? indexMembers()
        return members?[name] ?? Tape.absent
    }

    @inline(__always)
    private func search(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> UInt32 {
        let document = document
        let tape = document.tape
        let word = KeyWord.make(bytes, count, kind: TextKind.plain)
        let end = document.end(value)
        var key = lastKey
        while key < end {
            if tape[Int(key) + 1] == word, isEqual(key, bytes, count) { return found(key) }
            key = document.index(after: key + 2)
        }
        key = value + 2
        while key < lastKey {
            if tape[Int(key) + 1] == word, isEqual(key, bytes, count) { return found(key) }
            key = document.index(after: key + 2)
        }
        return Tape.absent
    }

    /// The value of a key. The next search begins there.
    @inline(__always)
    private func found(_ key: UInt32) -> UInt32 {
        lastKey = key
        nextKey = document.index(after: key + 2)
        return key + 2
    }

    @inline(__always)
    private func isEqual(_ key: UInt32, _ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        // The words are equal, so a short key has the same length.
        if count >= KeyWord.longLength, document.keyLength(key) != count { return false }
        return areEqual(document.bytes + Int(document.tape[Int(key)]) + 1, bytes, count)
    }

    /// Makes the dictionary of an object that needs one. Throws if a key is not a string that Swift can represent.
    @inline(__always)
    func prepareMembers() throws {
        guard document.tape[Int(value) + 1] > Tape.endMask || document.strategies.convertsKeys, members == nil else {
            return
        }
        members = try indexMembers()
    }

    @inline(never)
    private func indexMembers() throws -> [String: UInt32] {
        var members: [String: UInt32] = [:]
        let path = if case .custom = document.strategies.key { codingPath } else { [any CodingKey]() }
        try forEachMember { key, value in
            let name = converted(key, path)
            // The first of several equal keys wins.
            if members[name] == nil { members[name] = value }
        }
        return members
    }

    func forEachMember(_ body: (_ key: String, _ value: UInt32) throws -> Void) throws {
        let end = document.end(value)
        var key = value + 2
        while key < end {
            guard let name = document.key(key) else { throw UnrepresentableValue() }
            try body(name, key + 2)
            key = document.index(after: key + 2)
        }
    }

    /// The names of the members in the order of the document, converted and without duplicates.
    var names: [String] {
        var names: [String] = []
        guard let members else {
            try? forEachMember { key, _ in names.append(key) }
            return names
        }
        names.reserveCapacity(members.count)
        let path = if case .custom = document.strategies.key { codingPath } else { [any CodingKey]() }
        try? forEachMember { key, value in
            let name = converted(key, path)
            if members[name] == value { names.append(name) }
        }
        return names
    }

    private func converted(_ key: String, _ path: [any CodingKey]) -> String {
        switch document.strategies.key {
        case .useDefaultKeys:
            return key
        case .convertFromSnakeCase:
            if let name = document.convertedKeys[key] { return name }
            let name = SnakeCase.camelCase(key)
            if document.convertedKeys.count < 1_024 { document.convertedKeys[key] = name }
            return name
        case .custom(let convert):
            return convert(path + [JSONKey(stringValue: key)]).stringValue
        }
    }
}

/// `snake_case` names in `camelCase`.
enum SnakeCase {
    /// Underscores at both ends stay.
    static func camelCase(_ key: String) -> String {
        guard let first = key.firstIndex(where: { $0 != "_" }), let last = key.lastIndex(where: { $0 != "_" }) else {
            return key
        }
        let words = key[first...last].split(separator: "_")
        guard words.count > 1 else { return key }
        let middle = words[0].lowercased() + words[1...].map(\.capitalized).joined()
        return key[..<first] + middle + key[key.index(after: last)...]
    }
}
