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

    @Test("is cut off only where that changes its size, because file systems remember it") func cutOff() async throws {
        try await TemporaryFolder.with { folder in
            let place = IncomingFile.Place(folder.path + "/a")
            let file = try IncomingFile.make(for: place, allowsUnnamed: false)
            let path = folder.path + "/" + (try #require(folder.names.first))
            let longAgo = Date(timeIntervalSince1970: 1_000_000)
            func isUntouched() throws -> Bool {
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                return try #require(attributes[.modificationDate] as? Date) == longAgo
            }
            for size: Int64 in [0, 3] {
                try file.write(Data(repeating: 7, count: Int(size)), at: 0)
                try FileManager.default.setAttributes([.modificationDate: longAgo], ofItemAtPath: path)
                try file.truncate(to: size)
                #expect(try isUntouched(), "\(size) bytes")
            }
            try file.truncate(to: 2)
            #expect(try file.size() == 2)
            #expect(try !isUntouched())
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

    @Test("goes without a lock where the file system has none, and keeps no part there") func noLocks() async throws {
        try await TemporaryFolder.with { folder in
            let place = IncomingFile.Place(folder.path + "/a")
            let none: (Int32) -> Leftovers.Claim = { _ in .impossible }
            for allowsUnnamed in [true, false] {
                let file = try IncomingFile.make(for: place, allowsUnnamed: allowsUnnamed, claim: none)
                try file.publish(replacing: true)
                #expect(folder.names == ["a"])
            }
            let kept = try IncomingFile.keptPartial(for: place, claim: none)
            #expect(kept == nil)
            #expect(folder.names == ["a"])
        }
    }

    @Test("that others take away each time is given up, with nothing left") func alwaysTaken() async throws {
        try await TemporaryFolder.with { folder in
            let place = IncomingFile.Place(folder.path + "/a")
            let problem = #expect(throws: FileProblem.self) {
                try IncomingFile.make(for: place, allowsUnnamed: false) { _ in .taken }
            }
            #expect(problem?.kind == .unwritable(errno: EAGAIN))
            #expect(folder.names == [])
        }
    }

    @Test("is told from one that somebody else has, and both from a file system without locks") func claims()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let path = try folder.file("a")
            let first = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            let second = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            #expect(Leftovers.claim(first.fileDescriptor) == .held)
            #expect(Leftovers.claim(second.fileDescriptor) == .taken)
            try first.close()
            #expect(Leftovers.claim(second.fileDescriptor) == .held)
            #expect(Leftovers.claim(-1) == .impossible)
        }
    }

    @Test("takes an unused name alone, whether the file system can rename so, or only link") func exclusive()
        async throws
    {
        func unable(_ old: String, _ new: String) -> Int32 {
            errno = EINVAL
            return -1
        }
        try await TemporaryFolder.with { folder in
            for rename in [Disk.renameExclusively, unable] {
                try folder.file("old", Data("one".utf8))
                let isMoved = Disk.move(folder.path + "/old", toUnused: folder.path + "/new", rename: rename)
                #expect(isMoved)
                #expect(folder.names == ["new"])
                try folder.file("old", Data("two".utf8))
                let isMovedAgain = Disk.move(folder.path + "/old", toUnused: folder.path + "/new", rename: rename)
                let reason = errno
                #expect(!isMovedAgain)
                #expect(reason == EEXIST)
                #expect(FileManager.default.contents(atPath: folder.path + "/new") == Data("one".utf8))
                #expect(folder.names == ["new", "old"])
                for name in folder.names { try FileManager.default.removeItem(atPath: folder.path + "/" + name) }
            }
        }
    }

    #if os(Linux)
        @Test("can be renamed to an unused name without links") func exclusiveRename() async throws {
            try await TemporaryFolder.with { folder in
                try folder.file("old")
                #expect(Disk.renameExclusively(folder.path + "/old", folder.path + "/new") == 0)
                #expect(folder.names == ["new"])
            }
        }

        @Test("on a full disk says that there is no space") func fullDisk() throws {
            let device = open("/dev/full", O_RDWR | O_CLOEXEC)
            try #require(device >= 0)
            let file = IncomingFile(device, IncomingFile.Place("/films/wing.mp4"), name: nil)
            #expect(throws: FileProblem(.noSpace, path: "/films/wing.mp4")) {
                try file.write(Data("film".utf8), at: 0)
            }
        }
    #endif

    @Test(
        "that the system refuses is refused for a reason that helps",
        arguments: [
            (ENOSPC, .noSpace), (EDQUOT, .noSpace), (EFBIG, .noSpace), (EACCES, .forbidden), (EPERM, .forbidden),
            (ENOENT, .missing), (ENOTDIR, .missing), (EEXIST, .exists), (EISDIR, .exists),
            (EROFS, .unwritable(errno: EROFS)), (EIO, .unwritable(errno: EIO)),
            (ENAMETOOLONG, .unwritable(errno: ENAMETOOLONG)),
        ] as [(Int32, FileProblem.Kind)])
    func reasons(number: Int32, kind: FileProblem.Kind) {
        let problem = FileProblem(writing: "/films/wing.mp4", in: "/films", errno: number)
        #expect(problem.kind == kind)
        #expect(problem.path == (kind == .missing || kind == .forbidden ? "/films" : "/films/wing.mp4"))
    }

    @Test("at no sensible path is refused", arguments: ["", "/tmp/", "a\0b"]) func badPath(path: String) {
        #expect(throws: FileProblem.self) { try IncomingFile.make(for: IncomingFile.Place(path)) }
    }
}
