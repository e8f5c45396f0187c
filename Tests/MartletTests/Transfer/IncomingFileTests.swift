import Foundation
import Testing

@testable import Martlet

@Suite("A file on its way in") struct IncomingFileTests {
    @Test("with a hidden name is moved to its place, and replaces what is there only where it may") func named()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let place = IncomingFile.Place(folder.path + "/a")
            let file = try IncomingFile.make(for: place, allowsUnnamed: false)
            try file.write(Data("one".utf8), at: 0)
            #expect(folder.names.count == 1)
            try file.publish(replacing: false)
            #expect(folder.names == ["a"])
            let second = try IncomingFile.make(for: place, allowsUnnamed: false)
            try second.write(Data("two".utf8), at: 0)
            let problem = #expect(throws: FileProblem.self) { try second.publish(replacing: false) }
            #expect(problem?.kind == .exists)
            #expect(FileManager.default.contents(atPath: place.path) == Data("one".utf8))
            try second.publish(replacing: true)
            #expect(FileManager.default.contents(atPath: place.path) == Data("two".utf8))
            #expect(folder.names == ["a"])
        }
    }

    @Test("loses its hidden name when it is released, or given up") func released() async throws {
        try await TemporaryFolder.with { folder in
            let place = IncomingFile.Place(folder.path + "/a")
            _ = try IncomingFile.make(for: place, allowsUnnamed: false)
            #expect(folder.names == [])
            let file = try IncomingFile.make(for: place, allowsUnnamed: false)
            file.abandon()
            #expect(folder.names == [])
            // Whoever is still at it writes into nothing.
            try file.write(Data("late".utf8), at: 0)
            #expect(folder.names == [])
        }
    }

    @Test("clears away what a killed process left of the same place, and nothing that is in use") func leftovers()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let place = IncomingFile.Place(folder.path + "/a")
            let inUse = try IncomingFile.make(for: place, allowsUnnamed: false)
            let names = folder.names
            let left = try #require(names.first).replacingOccurrences(of: ".tmp", with: "0.tmp")
            try folder.file(left, Data("left".utf8))
            try folder.file(".martlet-download-of-something-else.1.tmp")
            let next = try IncomingFile.make(for: place)
            #expect(Set(folder.names) == Set(names + [".martlet-download-of-something-else.1.tmp"]))
            try next.publish(replacing: true)
            try inUse.publish(replacing: true)
        }
    }

    #if os(Linux)
        @Test("has no name at all until it is whole, even where it replaces another") func unnamed() async throws {
            try await TemporaryFolder.with { folder in
                try folder.file("a", Data("older".utf8))
                let file = try IncomingFile.make(for: IncomingFile.Place(folder.path + "/a"))
                try file.write(Data("newer".utf8), at: 0)
                #expect(folder.names == ["a"])
                try file.publish(replacing: true)
                #expect(folder.names == ["a"])
                #expect(FileManager.default.contents(atPath: folder.path + "/a") == Data("newer".utf8))
            }
        }
    #endif

    @Test("may have a name as long as the file system allows") func longName() async throws {
        try await TemporaryFolder.with { folder in
            let name = String(repeating: "n", count: 255)
            for allowsUnnamed in [true, false] {
                let file = try IncomingFile.make(
                    for: IncomingFile.Place(folder.path + "/" + name), allowsUnnamed: allowsUnnamed)
                try file.publish(replacing: true)
                #expect(folder.names == [name])
            }
        }
    }

    @Test("gets the permissions that a new file gets") func permissions() async throws {
        try await TemporaryFolder.with { folder in
            try folder.file("usual")
            let usual = try FileManager.default.attributesOfItem(atPath: folder.path + "/usual")[.posixPermissions]
            for allowsUnnamed in [true, false] {
                let path = folder.path + "/\(allowsUnnamed)"
                let file = try IncomingFile.make(for: IncomingFile.Place(path), allowsUnnamed: allowsUnnamed)
                try file.publish(replacing: true)
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
                #expect(mode as? Int == usual as? Int)
            }
        }
    }

    @Test("at no sensible path is refused", arguments: ["", "/tmp/", "a\0b"]) func badPath(path: String) {
        #expect(throws: FileProblem.self) { try IncomingFile.make(for: IncomingFile.Place(path)) }
    }
}
