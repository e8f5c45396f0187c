import Foundation
import Martlet
import MartletTesting
import Testing

@testable import MartletAdoption

@Suite("Damaged records of other libraries", .timeLimit(.minutes(10)))
struct DamagedRecordTests {
    /// Reads a record, which must give a value or an error.
    private func read(_ data: Data, of library: Library) -> AdoptionError? {
        do {
            _ = try library.read(data)
            return nil
        } catch {
            return error
        }
    }

    /// No error may contain anything of a record.
    private func checkTexts(of errors: Set<AdoptionError>) {
        for error in errors {
            var dumped = ""
            dump(error, to: &dumped)
            for text in [error.description, String(describing: error), String(reflecting: error), dumped] {
                #expect(!["fixture", "example", "user-1", "auth0|1", "firebase-1"].contains(where: text.contains))
            }
        }
    }

    @Test("A record that is cut off anywhere is refused", arguments: Records.names)
    func refusesPrefixes(of name: String) throws {
        let data = try Records.data(name)
        let library = try Library(record: name)
        var errors: Set<AdoptionError> = []
        for length in 0..<data.count {
            guard let error = read(data.prefix(length), of: library) else {
                Issue.record("\(length) of \(data.count) bytes were read")
                continue
            }
            errors.insert(error)
        }
        checkTexts(of: errors)
    }

    @Test("A record that does not begin at index 0 of its data is read", arguments: Library.allCases)
    func readsSlices(_ library: Library) throws {
        let data = Data([1, 2, 3]) + (try Records.data(library.fullest))
        #expect(read(data.dropFirst(3), of: library) == nil)
    }

    @Test("20,000 records with changed bytes give a value or an error")
    func survivesChanges() throws {
        let originals = try Library.allCases.map { ($0, try Records.data($0.fullest)) }
        var generator = SeededGenerator(seed: 33)
        var errors: Set<AdoptionError> = []
        var failures = 0
        for round in 0..<20_000 {
            let (library, original) = originals[round % originals.count]
            var data = original
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<data.count, using: &generator)
                data[index] ^= UInt8.random(in: 1...255, using: &generator)
            }
            guard let error = read(data, of: library) else { continue }
            errors.insert(error)
            failures += 1
        }
        checkTexts(of: errors)
        // Many changes hit a text that is not read. If all or no records were refused, nothing would have been tried.
        #expect((2_000..<18_000).contains(failures))
    }

    @Test("An archive with cut-off and mixed parts gives a value or an error", arguments: Library.allCases)
    func survivesMixing(_ library: Library) throws {
        let original = try Records.data(library.fullest)
        var generator = SeededGenerator(seed: 34)
        for _ in 0..<500 {
            var data = original
            let from = Int.random(in: 0..<data.count, using: &generator)
            let length = Int.random(in: 1...min(64, data.count - from), using: &generator)
            let to = Int.random(in: 0...data.count - length, using: &generator)
            data.replaceSubrange(to..<to + length, with: original[from..<from + length])
            if Bool.random(using: &generator) { data.removeSubrange(from..<from + length) }
            _ = read(data, of: library)
        }
    }

    @Test(
        "An archive that is cyclic, nested deeply or repeats itself is refused",
        arguments: Records.names.filter { $0.hasPrefix("hostile") })
    func refusesHostileArchives(_ name: String) throws {
        let data = try Records.data(name)
        for library in Library.allCases where ![.supabase, .amplify].contains(library) {
            let error = try #require(read(data, of: library), "\(library) read \(name)")
            let reason =
                switch name {
                case "hostile-deep-archive.plist", "hostile-deep-list.plist": "nested too deeply"
                case "hostile-laughs-archive.plist", "hostile-laughs-list.plist": "repeats its objects"
                case "hostile-overlap.plist": "overlap"
                case "hostile-uid-outside.plist": "refers to a missing one"
                default: "contains itself"
                }
            #expect(error.kind == .damaged)
            #expect(error.description.contains(reason))
        }
    }

    @Test("Deeply nested JSON is refused", arguments: [Library.supabase, .amplify])
    func refusesDeepJSON(_ library: Library) {
        for open in ["[", "{\"a\":"] {
            let nested = String(repeating: open, count: 100_000)
            #expect(read(Data("{\"session\":\(nested)".utf8), of: library) != nil)
            #expect(read(Data("{\"accessToken\":\(nested)".utf8), of: library) != nil)
        }
    }

    @Test("Data that is larger than any record is refused unread", arguments: Library.allCases)
    func refusesHugeData(_ library: Library) throws {
        let data = try Records.data(library.fullest) + Data(repeating: 0x20, count: 1 << 20)
        #expect(read(data, of: library)?.kind == .tooLarge)
    }

    @Test("Many objects in one place are refused without reading each", arguments: [UInt8(0xAF), 0xDF, 0x5F])
    func refusesOverlap(marker: UInt8) {
        // 65,535 objects, each of which claims the whole list.
        let count = 65_535
        var data = Data("bplist00".utf8) + [marker, 0x11, 0xFF, 0xFF] + Data(repeating: 0x41, count: count * 4)
        let table = data.count
        data.append(contentsOf: (0..<count).flatMap { _ in [UInt8(0), 0, 8] })
        data.append(contentsOf: [0, 0, 0, 0, 0, 0, 3, 2])
        for number in [count, 0, table] {
            data.append(contentsOf: (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - $0 * 8)) })
        }
        #expect(read(data, of: .appauth) != nil)
    }

    @Test(
        "Data of another kind is foreign",
        arguments: ["", "null", "[]", "\"text\"", "<?xml version=\"1.0\"?><plist/>", "refresh_token=a&access_token=b"])
    func refusesOtherKinds(_ text: String) {
        for library in Library.allCases {
            #expect(read(Data(text.utf8), of: library)?.kind == .foreign)
        }
    }
}
