#if canImport(CryptoKit) || Encryption
    import Foundation
    import MartletTesting
    import MartletTestSupport
    import Testing

    @testable import Martlet

    @Suite("A download with a digest", .noBlockingCalls, .timeLimit(.minutes(10))) struct DigestCheckTests {
        private let content = Data("hello world\n".utf8)
        // `printf 'hello world\n' | sha256sum`
        private let sha256 = "a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447"

        private func download(
            _ check: DigestCheck, digestField: String? = nil, breaks: [Int] = [], keepsPartial: Bool = false,
            in folder: TemporaryFolder
        ) async throws -> NetworkResponse<DownloadedFile> {
            let server = DownloadServer(content, pieceSize: 5)
            server.change { state in
                if let digestField, let name = HTTPField.Name("Repr-Digest") { state.headers[name] = digestField }
                state.breaks = breaks
            }
            var options = DownloadOptions()
            options.check = check
            options.keepsPartial = keepsPartial
            return try await persistentClient(server.transport).download(
                Get("/film", .none), to: folder.path + "/film", options: options)
        }

        @Test("a matching digest completes the download, however often it was interrupted") func fits() async throws {
            try await TemporaryFolder.with { folder in
                for check in [DigestCheck.sha256(sha256), .sha256(sha256.uppercased())] {
                    let response = try await download(check, breaks: [5, 3], in: folder)
                    #expect(response.value.size == 12)
                    #expect(FileManager.default.contents(atPath: folder.path + "/film") == content)
                }
            }
        }

        @Test(
            "a mismatch leaves nothing behind, even if partial downloads are kept",
            arguments: [true, false])
        func doesNotFit(keeps: Bool) async throws {
            try await TemporaryFolder.with { folder in
                let digits = "b948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447"
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

        @Test("text that is no digest fails the call before it is sent", arguments: ["not hexadecimal", "", "a948"])
        func noDigest(digits: String) async throws {
            try await TemporaryFolder.with { folder in
                for check in [DigestCheck.sha256(digits), .sha256(Data(digits.utf8))] {
                    let failure = await error { _ = try await download(check, keepsPartial: true, in: folder) }
                    guard case .invalidRequest(let call, let reason) = failure else {
                        Issue.record("\(String(describing: failure))")
                        return
                    }
                    #expect(
                        call.attempts == 0
                            && reason.hasSuffix("is not a SHA-256 digest, which has 64 hexadecimal digits."))
                    #expect(folder.names == [])
                }
            }
        }

        @Test(
            // `printf 'hello world\n' | openssl dgst -sha512 -binary | base64 -w 0`
            "the server's digest is checked, in either algorithm and among others",
            arguments: [
                "sha-256=:qUiQTy8PR5uPgZdpSzAYSw0u0cHNKh7A+4XSmaGSpEc=:",
                "md5=:AAAA:, sha-256=:qUiQTy8PR5uPgZdpSzAYSw0u0cHNKh7A+4XSmaGSpEc=:;x=1",
                "sha-512=:2zl0qX8kB7fK4a5jfAAwaHoRkTJ01XhJJVjjnBbAF96E6s3Ixi/jTuThK0sUKIF/Cbaidgw/imZM6ulNJDSlkw==:",
            ])
        func server(digestField: String) async throws {
            try await TemporaryFolder.with { folder in
                _ = try await download(.fromServer(required: true), digestField: digestField, in: folder)
                #expect(folder.names == ["film"])
            }
        }

        @Test("a wrong digest from the server fails, and so does a required one that is missing") func serverFails()
            async throws
        {
            try await TemporaryFolder.with { folder in
                let wrong = "sha-256=:AAAQTy8PR5uPgZdpSzAYSw0u0cHNKh7A+4XSmaGSpEc=:"
                let mismatch = await error { _ = try await download(.fromServer(), digestField: wrong, in: folder) }
                guard case .downloadFailed(_, .digestMismatch) = mismatch else {
                    Issue.record("\(String(describing: mismatch))")
                    return
                }
                for digestField in [nil, "md5=:AAAA:", "sha-256=nothing", "sha-256"] {
                    let missing = await error {
                        _ = try await download(.fromServer(required: true), digestField: digestField, in: folder)
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

        @Test("a range requested by the endpoint itself is not checked against the digest of the whole file")
        func ownRange() async throws {
            try await TemporaryFolder.with { folder in
                let server = DownloadServer(content)
                server.change { state in
                    guard let name = HTTPField.Name("Repr-Digest") else { return }
                    state.headers[name] = "sha-256=:qUiQTy8PR5uPgZdpSzAYSw0u0cHNKh7A+4XSmaGSpEc=:"
                }
                let client = client(server.transport)
                let path = folder.path + "/part"
                let part = Call<NoContent>(.get, "/film", headers: [.range: "bytes=6-"], authentication: .none)
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
                // If the server ignores the range, the digest applies.
                server.change { $0.headers[.acceptRanges] = "none" }
                try await client.download(part, to: path, options: options)
                #expect(FileManager.default.contents(atPath: path) == content)
            }
        }

        @Test("bytes kept from an earlier call are part of the digest") func kept() async throws {
            try await TemporaryFolder.with { folder in
                let failure = await error {
                    _ = try await download(
                        .sha256(sha256), breaks: [5, 0, 0, 0], keepsPartial: true, in: folder)
                }
                #expect(failure != nil)
                let response = try await download(.sha256(sha256), keepsPartial: true, in: folder)
                #expect(response.value.resumedBytes == 5)
                #expect(FileManager.default.contents(atPath: folder.path + "/film") == content)
            }
        }
    }
#endif
