import Foundation
import Testing

@testable import Martlet

@Suite("An incoming file", .timeLimit(.minutes(10))) struct IncomingFileTests {
    @Test("a hidden file is moved into place, and replaces another file only if allowed") func named()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let place = IncomingFile.Destination(folder.path + "/a")
            let file = try IncomingFile.make(for: place, allowsAnonymous: false)
            try file.write(Data("one".utf8), at: 0)
            #expect(folder.names.count == 1)
            try file.publish(replacing: false)
            #expect(folder.names == ["a"])
            let second = try IncomingFile.make(for: place, allowsAnonymous: false)
            try second.write(Data("two".utf8), at: 0)
            let problem = #expect(throws: FileError.self) { try second.publish(replacing: false) }
            #expect(problem?.kind == .exists)
            #expect(FileManager.default.contents(atPath: place.path) == Data("one".utf8))
            try second.publish(replacing: true)
            #expect(FileManager.default.contents(atPath: place.path) == Data("two".utf8))
            #expect(folder.names == ["a"])
        }
    }

    @Test("the hidden name is removed when the file is released or abandoned") func released() async throws {
        try await TemporaryFolder.with { folder in
            let place = IncomingFile.Destination(folder.path + "/a")
            try await BlockingQueue.run { _ = try IncomingFile.make(for: place, allowsAnonymous: false) }
            #expect(folder.names == [])
            // A task must not block, so it leaves the removal to a queue.
            _ = try IncomingFile.make(for: place, allowsAnonymous: false)
            while folder.names != [] { await Task.yield() }
            let file = try IncomingFile.make(for: place, allowsAnonymous: false)
            file.abandon()
            #expect(folder.names == [])
            // A late write has no visible effect.
            try file.write(Data("late".utf8), at: 0)
            #expect(folder.names == [])
        }
    }

    @Test(
        "a file is truncated only if its size changes, because file systems record the modification") func cutOff()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let place = IncomingFile.Destination(folder.path + "/a")
            let file = try IncomingFile.make(for: place, allowsAnonymous: false)
            let path = folder.path + "/" + (try #require(folder.names.first))
            let longAgo = Date(timeIntervalSince1970: 1_000_000)
            func passedThrough() throws -> Bool {
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                return try #require(attributes[.modificationDate] as? Date) == longAgo
            }
            for size: Int64 in [0, 3] {
                try file.write(Data(repeating: 7, count: Int(size)), at: 0)
                try FileManager.default.setAttributes([.modificationDate: longAgo], ofItemAtPath: path)
                try file.truncate(to: size)
                #expect(try passedThrough(), "\(size) bytes")
            }
            try file.truncate(to: 2)
            #expect(try file.size() == 2)
            #expect(try !passedThrough())
        }
    }

    @Test("files left by killed processes are removed, and files in use are kept") func leftovers()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let place = IncomingFile.Destination(folder.path + "/a")
            let inUse = try IncomingFile.make(for: place, allowsAnonymous: false)
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
        @Test(
            "on Linux, the file has no name until it is complete, even if it replaces another") func unnamed()
            async throws
        {
            try await TemporaryFolder.with { folder in
                try folder.file("a", Data("older".utf8))
                let file = try IncomingFile.make(for: IncomingFile.Destination(folder.path + "/a"))
                try file.write(Data("newer".utf8), at: 0)
                #expect(folder.names == ["a"])
                try file.publish(replacing: true)
                #expect(folder.names == ["a"])
                #expect(FileManager.default.contents(atPath: folder.path + "/a") == Data("newer".utf8))
            }
        }
    #endif

    @Test("a file name can be as long as the file system allows") func longName() async throws {
        try await TemporaryFolder.with { folder in
            let name = String(repeating: "n", count: 255)
            for allowsUnnamed in [true, false] {
                let file = try IncomingFile.make(
                    for: IncomingFile.Destination(folder.path + "/" + name), allowsAnonymous: allowsUnnamed)
                try file.publish(replacing: true)
                #expect(folder.names == [name])
            }
        }
    }

    @Test("the file has the default permissions of a new file") func permissions() async throws {
        try await TemporaryFolder.with { folder in
            try folder.file("usual")
            let usual = try FileManager.default.attributesOfItem(atPath: folder.path + "/usual")[.posixPermissions]
            for allowsUnnamed in [true, false] {
                let path = folder.path + "/\(allowsUnnamed)"
                let file = try IncomingFile.make(for: IncomingFile.Destination(path), allowsAnonymous: allowsUnnamed)
                try file.publish(replacing: true)
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
                #expect(mode as? Int == usual as? Int)
            }
        }
    }

    @Test("without file locks, a file is still written, but no partial file is kept") func noLocks() async throws {
        try await TemporaryFolder.with { folder in
            let place = IncomingFile.Destination(folder.path + "/a")
            let none: (Int32) -> StaleFiles.Claim = { _ in .impossible }
            for allowsUnnamed in [true, false] {
                let file = try IncomingFile.make(for: place, allowsAnonymous: allowsUnnamed, claim: none)
                try file.publish(replacing: true)
                #expect(folder.names == ["a"])
            }
            let kept = try IncomingFile.keptPartial(for: place, claim: none)
            #expect(kept == nil)
            #expect(folder.names == ["a"])
        }
    }

    @Test(
        "if other processes claim every new file, making one fails and leaves nothing behind") func alwaysTaken()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let place = IncomingFile.Destination(folder.path + "/a")
            let problem = #expect(throws: FileError.self) {
                try IncomingFile.make(for: place, allowsAnonymous: false) { _ in .heldElsewhere }
            }
            #expect(problem?.kind == .unwritable(errno: EAGAIN))
            #expect(folder.names == [])
        }
    }

    @Test("a claim distinguishes a free file, one in use, and a file system without locks") func claims()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let path = try folder.file("a")
            let first = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            let second = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            #expect(StaleFiles.claim(first.fileDescriptor) == .held)
            #expect(StaleFiles.claim(second.fileDescriptor) == .heldElsewhere)
            try first.close()
            #expect(StaleFiles.claim(second.fileDescriptor) == .held)
            #expect(StaleFiles.claim(-1) == .impossible)
        }
    }

    @Test("an exclusive move never overwrites a file, whether it renames or links") func exclusive()
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
        @Test("an exclusive rename needs no links") func exclusiveRename() async throws {
            try await TemporaryFolder.with { folder in
                try folder.file("old")
                #expect(Disk.renameExclusively(folder.path + "/old", folder.path + "/new") == 0)
                #expect(folder.names == ["new"])
            }
        }

        @Test("a full disk is reported as noSpace") func fullDisk() throws {
            let device = open("/dev/full", O_RDWR | O_CLOEXEC)
            try #require(device >= 0)
            let file = IncomingFile(device, IncomingFile.Destination("/films/wing.mp4"), name: nil)
            #expect(throws: FileError(.noSpace, path: "/films/wing.mp4")) {
                try file.write(Data("film".utf8), at: 0)
            }
        }
    #endif

    @Test(
        "each system error has its kind",
        arguments: [
            (ENOSPC, .noSpace), (EDQUOT, .noSpace), (EFBIG, .noSpace), (EACCES, .forbidden), (EPERM, .forbidden),
            (ENOENT, .missingFolder), (ENOTDIR, .notFolder), (EEXIST, .exists), (EISDIR, .directory),
            (EROFS, .unwritable(errno: EROFS)), (EIO, .unwritable(errno: EIO)),
            (ENAMETOOLONG, .unwritable(errno: ENAMETOOLONG)),
        ] as [(Int32, FileError.Kind)])
    func reasons(number: Int32, kind: FileError.Kind) {
        let problem = FileError(writing: "/films/wing.mp4", in: "/films", errno: number)
        #expect(problem.kind == kind)
        #expect(
            problem.path == ([.missingFolder, .notFolder, .forbidden].contains(kind) ? "/films" : "/films/wing.mp4"))
    }

    @Test("an invalid path is rejected", arguments: ["", "/tmp/", "a\0b"]) func badPath(path: String) {
        #expect(throws: FileError.self) { try IncomingFile.make(for: IncomingFile.Destination(path)) }
    }
}
