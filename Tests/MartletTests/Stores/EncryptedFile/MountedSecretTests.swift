#if Encryption
    import Foundation
    import MartletTestSupport
    import Testing

    @testable import Martlet

    @testable import MartletStorage

    /// A folder with one secret, as Kubernetes mounts it.
    private struct SecretVolume {
        let folder: TemporaryFolder

        var path: String { folder.path + "/key" }

        static func key(_ number: Int) -> Data { Data(repeating: UInt8(truncatingIfNeeded: number) | 0x80, count: 32) }

        init(in folder: TemporaryFolder) throws {
            self.folder = folder
            chmod(folder.path, 0o1777)
            symlink("..data/key", path)
            try rotate(to: 0)
        }

        /// Mounts a version and removes the one before, in the order of Kubernetes' `AtomicWriter`.
        func rotate(to number: Int, mode: mode_t = 0o444) throws {
            let version = folder.path + "/..version\(number)"
            mkdir(version, 0o755)
            try Self.key(number).write(to: URL(filePath: version + "/key"))
            chmod(version + "/key", mode)
            symlink("..version\(number)", folder.path + "/..data_tmp")
            rename(folder.path + "/..data_tmp", folder.path + "/..data")
            let before = folder.path + "/..version\(number - 1)"
            if number > 0 { try FileManager.default.removeItem(atPath: before) }
        }
    }

    @Suite("Secrets that an orchestrator mounts", .noBlockingCalls, .timeLimit(.minutes(10))) struct MountedSecretTests
    {
        @Test("a secret behind links that belongs to root is the key", arguments: [0o444, 0o644, 0o400] as [mode_t])
        func kubernetes(mode: mode_t) async throws {
            try await TemporaryFolder.with { folder in
                let volume = try SecretVolume(in: folder)
                try volume.rotate(to: 1, mode: mode)
                #expect(await failure(of: .mountedSecret(at: volume.path)) == nil)
                // The source for a file of the user takes neither the link nor the mode.
                #expect(await failure(of: .file(path: volume.path)) != nil)
            }
        }

        @Test("a secret without links is the key, as in Docker") func docker() async throws {
            try await TemporaryFolder.with { folder in
                chmod(folder.path, 0o755)
                let path = try folder.file("passphrase", Data("correct horse\n".utf8))
                chmod(path, 0o444)
                let key = EncryptionKey(
                    .mountedSecret(path: path, .passphrase), environment: { [:] },
                    cost: ScryptCost(logN: 14, r: 8, p: 1))
                #expect(await failure(of: key) == nil)
                #expect(await failure(of: .mountedSecret(at: path))?.description.contains("is not a key") == true)
            }
        }

        @Test("a rotated secret counts for the next value, and does not open what the earlier one sealed")
        func rotation() async throws {
            try await TemporaryFolder.with { folder in
                let volume = try SecretVolume(in: folder)
                let earlier = EncryptionKey.mountedSecret(at: volume.path)
                let sealed = try await SealedCoding(ring: earlier.ring).seal(Data("4711".utf8), as: "pin")
                try volume.rotate(to: 1)
                #expect(
                    try await SealedCoding(ring: earlier.ring).open(sealed, as: "pin", at: "a") == Data("4711".utf8))
                let later = SealedCoding(ring: EncryptionKey.mountedSecret(at: volume.path).ring)
                let failure = await #expect(throws: StorageError.self) {
                    _ = try await later.open(sealed, as: "pin", at: "a")
                }
                #expect(failure?.kind == .corrupt)
            }
        }

        @Test("a secret that is rotated while it is read is one version or the next") func rotationMeanwhile()
            async throws
        {
            try await TemporaryFolder.with { folder in
                let volume = try SecretVolume(in: folder)
                try await BlockingQueue.run {
                    let isOver = Locked(false)
                    let finished = DispatchSemaphore(value: 0)
                    Thread.detachNewThread {
                        var number = 0
                        while !isOver.withLock({ $0 }) {
                            number += 1
                            do { try volume.rotate(to: number) } catch { Issue.record(error) }
                        }
                        finished.signal()
                    }
                    for _ in 0..<500 {
                        let bytes = try MountedSecret(path: volume.path).read()
                        #expect(bytes?.count == 32 && Set(bytes ?? Data()).count == 1)
                    }
                    isOver.withLock { $0 = true }
                    finished.wait()
                }
            }
        }

        @Test("a secret that others can write is refused", arguments: [0o446, 0o464, 0o666] as [mode_t])
        func writable(mode: mode_t) async throws {
            try await TemporaryFolder.with { folder in
                let volume = try SecretVolume(in: folder)
                try volume.rotate(to: 1, mode: mode)
                let failure = await failure(of: .mountedSecret(at: volume.path))
                #expect(failure?.kind == .unsafePermissions)
                #expect(
                    failure?.description.contains("..version1/key belongs to another user or others can change") == true
                )
            }
        }

        @Test("a secret in a folder that others can write is refused", arguments: ["", "/..version0"])
        func writableFolder(name: String) async throws {
            try await TemporaryFolder.with { folder in
                let volume = try SecretVolume(in: folder)
                for mode in [0o777, 0o775] as [mode_t] {
                    chmod(folder.path + name, mode)
                    let failure = await failure(of: .mountedSecret(at: volume.path))
                    #expect(failure?.kind == .unsafePermissions)
                    #expect(failure?.description.contains("other users can change") == true)
                }
            }
        }

        @Test(
            "a secret of another user is refused, and so is one behind another user's link",
            .enabled(if: geteuid() == 0),
            arguments: ["key", "..data", "..version0", "..version0/key"])
        func otherOwner(name: String) async throws {
            try await TemporaryFolder.with { folder in
                let volume = try SecretVolume(in: folder)
                #expect(lchown(folder.path + "/" + name, 12345, 12345) == 0)
                #expect(await failure(of: .mountedSecret(at: volume.path))?.kind == .unsafePermissions)
            }
        }

        @Test("a missing secret fails with advice", arguments: ["key", "..data", "..version0", "..version0/key"])
        func missing(name: String) async throws {
            try await TemporaryFolder.with { folder in
                let volume = try SecretVolume(in: folder)
                try FileManager.default.removeItem(atPath: folder.path + "/" + name)
                let failure = await failure(of: .mountedSecret(at: volume.path))
                #expect(failure?.kind == .unreachable)
                #expect(failure?.description.hasPrefix("there is no secret at \(volume.path). Mount it there") == true)
            }
        }

        @Test("links in a circle, and a folder in place of the secret, are errors") func noFile() async throws {
            try await TemporaryFolder.with { folder in
                chmod(folder.path, 0o755)
                symlink("b", folder.path + "/a")
                symlink(folder.path + "/a", folder.path + "/b")
                mkdir(folder.path + "/folder", 0o755)
                #expect(
                    await failure(of: .mountedSecret(at: folder.path + "/a"))?.description.hasSuffix("loop") == true)
                #expect(await failure(of: .mountedSecret(at: folder.path + "/folder"))?.kind == .unreachable)
            }
        }

        private func failure(of key: EncryptionKey) async -> StorageError? {
            do throws(StorageError) {
                _ = try await SealedCoding(ring: key.ring).seal(Data("4711".utf8), as: "pin")
                return nil
            } catch {
                return error
            }
        }
    }
#endif
