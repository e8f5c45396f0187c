#if DEBUG && os(Linux)
    import Foundation
    import MartletTesting
    import Testing

    @testable import Martlet

    @testable import MartletStorage

    @Suite("A file system without hard links", .timeLimit(.minutes(10))) struct NoLinksTests {
        private static let reasons = [EPERM, EOPNOTSUPP, ENOTSUP, EMLINK, ENOSYS]

        @Test("without links, a lock is taken over exactly once", arguments: reasons)
        func takeover(reason: Int32) async throws {
            try await TemporaryFolder.with { folder in
                try await SystemFaults.inject(["link": reason], in: folder) {
                    let (suspended, holder) = try busyLock(in: folder)
                    let claim = try #require(try lock(in: folder).takeAway(from: holder))
                    #expect(claim.isValid && !suspended.isValid)
                    #expect(try lock(in: folder).takeAway(from: holder) == nil)
                    suspended.release()
                    claim.release()
                    #expect(folder.names == ["a.lock", "a.lock.1"])
                }
            }
        }

        @Test("without links, a file is created completely and once", arguments: reasons)
        func creation(reason: Int32) async throws {
            try await TemporaryFolder.with { folder in
                try await SystemFaults.inject(["link": reason], in: folder) {
                    let file = PrivateFile(path: folder.path + "/key")
                    let isCreated = try file.create(with: Data("first".utf8))
                    let isCreatedAgain = try file.create(with: Data("second".utf8))
                    #expect(isCreated && !isCreatedAgain)
                    #expect(try file.read() == Data("first".utf8))
                    #expect(folder.names == ["key"])
                }
            }
        }

        @Test("without exclusive renames either, the error says so, and nothing is left behind", arguments: reasons)
        func neither(reason: Int32) async throws {
            try await TemporaryFolder.with { folder in
                let (suspended, holder) = try busyLock(in: folder)
                try await SystemFaults.inject(["link": reason, "renameat2": EINVAL], in: folder) {
                    // `EPERM` would mean a locked device.
                    let lock = FileLock(path: folder.path + "/a.lock", steps: LockedDevice().steps)
                    let failures = [
                        #expect(throws: StorageError.self) { try lock.takeAway(from: holder) },
                        #expect(throws: StorageError.self) {
                            try PrivateFile(path: folder.path + "/key", steps: LockedDevice().steps).create(
                                with: Data())
                        },
                    ]
                    for failure in failures {
                        #expect(failure?.kind == .unreachable)
                        #expect(failure?.description.contains("the file system lacks locks") == true)
                    }
                    #expect(suspended.isValid)
                    suspended.release()
                    #expect(folder.names == ["a.lock"])
                    try folder.file("old")
                    let isMoved = Disk.move(folder.path + "/old", toUnused: folder.path + "/new")
                    let error = FileError(writing: folder.path + "/new", in: folder.path, errno: errno)
                    #expect(!isMoved && error.kind == .unsupported)
                }
            }
        }

        @Test("a download is published even if its unnamed file cannot be linked", arguments: reasons)
        func download(reason: Int32) async throws {
            try await TemporaryFolder.with { folder in
                var generator = SeededGenerator(seed: 3)
                let content = generator.bytes(200_000)
                let place = IncomingFile.Destination(folder.path + "/film")
                try await SystemFaults.inject(["linkat": reason], in: folder) {
                    for replaces in [false, true] {
                        let file = try IncomingFile.make(for: place)
                        try file.write(content, at: 0)
                        try file.publish(replacing: replaces)
                        #expect(FileManager.default.contents(atPath: place.path) == content)
                    }
                    let late = try IncomingFile.make(for: place)
                    #expect(throws: FileError(.exists, path: place.path)) { try late.publish(replacing: false) }
                    #expect(FileManager.default.contents(atPath: place.path) == content)
                }
                while folder.names != ["film"] { await Task.yield() }
            }
        }

        private func lock(in folder: TemporaryFolder) -> FileLock {
            FileLock(path: folder.path + "/a.lock", steps: .unobserved)
        }

        /// The lock of a process that is suspended, and its holder as others see it.
        private func busyLock(in folder: TemporaryFolder) throws -> (FileLock.Claim, FileLock.Holder) {
            guard case .acquired(let claim) = try lock(in: folder).attempt(),
                case .busy(let holder) = try lock(in: folder).attempt()
            else { throw CancellationError() }
            return (claim, holder)
        }
    }
#endif
