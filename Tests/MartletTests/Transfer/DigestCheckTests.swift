#if canImport(CryptoKit) || Encryption
    import Foundation
    import MartletTesting
    import Testing

    @testable import Martlet

    @Suite("A download that is checked") struct DigestCheckTests {
        private let content = Data("hello world\n".utf8)
        // `printf 'hello world\n' | sha256sum`
        private let sha256 = "a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447"

        private func download(
            _ check: DigestCheck, said: String? = nil, breaks: [Int] = [], keepsPartial: Bool = false,
            in folder: TemporaryFolder
        ) async throws -> NetworkResponse<DownloadedFile> {
            let server = DownloadServer(content, pieceSize: 5)
            server.change { state in
                if let said, let name = HTTPField.Name("Repr-Digest") { state.headers[name] = said }
                state.breaks = breaks
            }
            var options = DownloadOptions()
            options.check = check
            options.keepsPartial = keepsPartial
            return try await persistentClient(server.transport).download(
                Get("/film", .none), to: folder.path + "/film", options: options)
        }

        @Test("against a digest that fits, it becomes a file, however often it broke off") func fits() async throws {
            try await TemporaryFolder.with { folder in
                for check in [DigestCheck.sha256(sha256), .sha256(sha256.uppercased())] {
                    let answer = try await download(check, breaks: [5, 3], in: folder)
                    #expect(answer.value.size == 12)
                    #expect(FileManager.default.contents(atPath: folder.path + "/film") == content)
                }
            }
        }

        @Test(
            "against one that does not, it leaves nothing behind, even where what has come is kept",
            arguments: [true, false],
            ["b948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447", "not hexadecimal", "", "a948"])
        func doesNotFit(keeps: Bool, digits: String) async throws {
            try await TemporaryFolder.with { folder in
                let failure = await error {
                    _ = try await download(.sha256(digits), keepsPartial: keeps, in: folder)
                }
                guard case .downloadFailed(_, .digestMismatch(_, let actual)) = failure else {
                    Issue.record("\(String(describing: failure))")
                    return
                }
                #expect(actual == sha256)
                #expect(folder.names == [])
            }
        }

        @Test(
            // `printf 'hello world\n' | openssl dgst -sha512 -binary | base64 -w 0`
            "goes by what the server says, in either algorithm and among others",
            arguments: [
                "sha-256=:qUiQTy8PR5uPgZdpSzAYSw0u0cHNKh7A+4XSmaGSpEc=:",
                "md5=:AAAA:, sha-256=:qUiQTy8PR5uPgZdpSzAYSw0u0cHNKh7A+4XSmaGSpEc=:;x=1",
                "sha-512=:2zl0qX8kB7fK4a5jfAAwaHoRkTJ01XhJJVjjnBbAF96E6s3Ixi/jTuThK0sUKIF/Cbaidgw/imZM6ulNJDSlkw==:",
            ])
        func server(said: String) async throws {
            try await TemporaryFolder.with { folder in
                _ = try await download(.fromServer(required: true), said: said, in: folder)
                #expect(folder.names == ["film"])
            }
        }

        @Test("a server that says something else, or must say something and does not, makes it fail") func serverFails()
            async throws
        {
            try await TemporaryFolder.with { folder in
                let wrong = "sha-256=:AAAQTy8PR5uPgZdpSzAYSw0u0cHNKh7A+4XSmaGSpEc=:"
                let mismatch = await error { _ = try await download(.fromServer(), said: wrong, in: folder) }
                guard case .downloadFailed(_, .digestMismatch) = mismatch else {
                    Issue.record("\(String(describing: mismatch))")
                    return
                }
                for said in [nil, "md5=:AAAA:", "sha-256=nothing", "sha-256"] {
                    let missing = await error {
                        _ = try await download(.fromServer(required: true), said: said, in: folder)
                    }
                    guard case .downloadFailed(_, .digestMissing) = missing else {
                        Issue.record("\(String(describing: missing))")
                        return
                    }
                }
                #expect(folder.names == [])
                _ = try await download(.fromServer(), in: folder)
                #expect(folder.names == ["film"])
            }
        }

        @Test("of a part that the endpoint itself asks for, what the server says of the whole is not about it")
        func ownRange() async throws {
            try await TemporaryFolder.with { folder in
                let server = DownloadServer(content)
                server.change { state in
                    guard let name = HTTPField.Name("Repr-Digest") else { return }
                    state.headers[name] = "sha-256=:qUiQTy8PR5uPgZdpSzAYSw0u0cHNKh7A+4XSmaGSpEc=:"
                }
                let client = client(server.transport)
                let path = folder.path + "/part"
                let part = Call<Empty>(.get, "/film", headers: [.range: "bytes=6-"], authentication: .none)
                var options = DownloadOptions()
                options.check = .fromServer()
                try await client.download(part, to: path, options: options)
                #expect(FileManager.default.contents(atPath: path) == Data("world\n".utf8))
                options.check = .fromServer(required: true)
                let missing = await error { try await client.download(part, to: path, options: options) }
                guard case .downloadFailed(_, .digestMissing) = missing else {
                    Issue.record("\(String(describing: missing))")
                    return
                }
                // Of a server that sends all the same, it is.
                server.change { $0.headers[.acceptRanges] = "none" }
                try await client.download(part, to: path, options: options)
                #expect(FileManager.default.contents(atPath: path) == content)
            }
        }

        @Test("what was kept of an earlier call counts") func kept() async throws {
            try await TemporaryFolder.with { folder in
                let failure = await error {
                    _ = try await download(
                        .sha256(sha256), breaks: [5, 0, 0, 0], keepsPartial: true, in: folder)
                }
                #expect(failure != nil)
                let answer = try await download(.sha256(sha256), keepsPartial: true, in: folder)
                #expect(answer.value.keptBytes == 5)
                #expect(FileManager.default.contents(atPath: folder.path + "/film") == content)
            }
        }
    }
#endif
