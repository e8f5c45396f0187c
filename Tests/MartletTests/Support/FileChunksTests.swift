internal import Foundation
internal import MartletTesting
internal import Testing

@testable import Martlet

@Suite("A file in chunks", .timeLimit(.minutes(10)))
struct FileChunksTests {
    @Test("all bytes arrive in order, in chunks of the requested size", arguments: [0, 1, 999, 1000, 1001, 2500])
    func everyByte(size: Int) async throws {
        try await withFile(of: size) { path, content, _ in
            let chunks = try await all(FileChunks(path: path, chunkSize: 1000))
            #expect(chunks.reduce(Data(), +) == content)
            #expect(chunks.map(\.count) == stride(from: 0, to: size, by: 1000).map { Swift.min(1000, size - $0) })
        }
    }

    @Test("a file can be read repeatedly")
    func twoPasses() async throws {
        try await withFile(of: 700_000) { path, content, _ in
            let chunks = FileChunks(path: path)
            let first = try await all(chunks)
            let second = try await all(chunks)
            #expect(first == second)
            #expect(first.reduce(Data(), +) == content)
            #expect(first.count == 3)
        }
    }

    @Test("the size is that of the file")
    func size() async throws {
        try await withFile(of: 12_345) { path, _, _ in
            let size = try FileChunks.size(ofFileAt: path)
            #expect(size == 12_345)
        }
    }

    @Test("a file whose size differs from the announced one fails", arguments: [99, 101] as [Int64])
    func otherSizeThanAnnounced(announced: Int64) async throws {
        try await withFile(of: 100) { path, _, _ in
            await #expect(throws: FileError(.changed, path: path)) {
                try await all(FileChunks(path: path, size: announced))
            }
        }
    }

    @Test("a file that shrinks while it is read fails")
    func shrinking() async throws {
        try await withFile(of: 3000) { path, _, folder in
            var iterator = FileChunks(path: path, chunkSize: 1000).makeAsyncIterator()
            _ = try await iterator.next()
            try folder.cut(path, to: 1000)
            await #expect(throws: FileError(.changed, path: path)) { _ = try await iterator.next() }
            #expect(try await iterator.next() == nil)
        }
    }

    @Test("bytes appended after measuring are not read, and the read fails")
    func growing() async throws {
        try await withFile(of: 1000) { path, content, folder in
            var iterator = FileChunks(path: path, chunkSize: 1000).makeAsyncIterator()
            #expect(try await iterator.next() == content)
            try folder.extend(path, by: Data("more".utf8))
            await #expect(throws: FileError(.changed, path: path)) { _ = try await iterator.next() }
        }
    }

    @Test("a file that only claims to be empty fails", .enabled(if: hasProc, "needs /proc"))
    func filesOfProc() async {
        await #expect(throws: FileError(.changed, path: "/proc/self/status")) {
            try await all(FileChunks(path: "/proc/self/status"))
        }
    }

    @Test("the error for a missing file names its path")
    func missing() async throws {
        try await withFile(of: 1) { path, _, folder in
            for missing in [folder.path + "/nothing", path + "/below", "", path + "\0.txt"] {
                let problem = FileError(.missing, path: missing)
                #expect(throws: problem) { try FileChunks.size(ofFileAt: missing) }
                await #expect(throws: problem) { try await all(FileChunks(path: missing)) }
                #expect(problem.description.contains("\"\(missing)\""))
            }
        }
    }

    @Test("directories, pipes and devices are rejected without blocking")
    func specialFiles() async throws {
        try await withFile(of: 0) { _, _, folder in
            let pipe = folder.path + "/pipe"
            try #require(mkfifo(pipe, 0o600) == 0)
            for special in [folder.path, pipe, "/dev/null"] {
                #expect(throws: FileError(.notRegular, path: special)) { try FileChunks.size(ofFileAt: special) }
                await #expect(throws: FileError(.notRegular, path: special)) {
                    try await all(FileChunks(path: special))
                }
            }
        }
    }

    @Test(
        "a file without read permission is reported as forbidden",
        .enabled(if: geteuid() != 0, "root may read everything"))
    func forbidden() async throws {
        try await withFile(of: 10) { path, _, _ in
            try #require(chmod(path, 0) == 0)
            #expect(throws: FileError(.forbidden, path: path)) { try FileChunks.size(ofFileAt: path) }
        }
    }

    @Test("another system error is passed on")
    func unreadable() async throws {
        try await withFile(of: 0) { _, _, folder in
            let loop = folder.path + "/loop"
            try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
            #expect(throws: FileError(.unreadable(errno: ELOOP), path: loop)) {
                try FileChunks.size(ofFileAt: loop)
            }
        }
    }

    @Test("a cancelled task stops reading and closes the file", .timeLimit(.minutes(10)))
    func cancellation() async throws {
        try await withFile(of: 3000) { path, _, _ in
            let task = Task {
                var iterator = FileChunks(path: path, chunkSize: 1000).makeAsyncIterator()
                let first = try await iterator.next()
                withUnsafeCurrentTask { $0?.cancel() }
                #expect(first?.count == 1000)
                await #expect(throws: CancellationError.self) { _ = try await iterator.next() }
                #expect(try await iterator.next() == nil)
            }
            try await task.value
            await becomesClosed(path)
        }
    }

    @Test(
        "the file is closed at the end, after an error, and when the iterator is released early",
        .enabled(if: hasProc, "needs /proc"), .timeLimit(.minutes(10)))
    func descriptors() async throws {
        try await withFile(of: 3000) { path, _, folder in
            var ending = FileChunks(path: path, chunkSize: 3000).makeAsyncIterator()
            _ = try await ending.next()
            #expect(openDescriptors(of: path) == 1)
            _ = try await ending.next()
            await becomesClosed(path)

            for try await _ in FileChunks(path: path, chunkSize: 1000) { break }
            await becomesClosed(path)

            var failing = FileChunks(path: path, chunkSize: 1000).makeAsyncIterator()
            _ = try await failing.next()
            try folder.cut(path, to: 10)
            _ = try? await failing.next()
            await becomesClosed(path)
            _ = try await failing.next()
        }
    }

    @Test("the descriptor is not inherited by child processes", .enabled(if: hasProc, "needs /proc"))
    func closedOnExec() async throws {
        try await withFile(of: 3000) { path, _, _ in
            var iterator = FileChunks(path: path, chunkSize: 1000).makeAsyncIterator()
            _ = try await iterator.next()
            let descriptor = try #require((0..<1024).first { link(to: $0) == path })
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
            _ = try await iterator.next()
        }
    }

    @Test("hundreds of files can be read at the same time")
    func manyAtOnce() async throws {
        try await withFile(of: 5000) { path, content, _ in
            try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 0..<300 {
                    group.addTask { try await all(FileChunks(path: path, chunkSize: 700)).reduce(Data(), +) }
                }
                for try await read in group { #expect(read == content) }
            }
        }
    }
}

@Suite("The media type of a file", .timeLimit(.minutes(10)))
struct MediaTypeTests {
    @Test(
        "the type depends on the extension, in any case",
        arguments: [
            ("me.jpg", "image/jpeg"), ("ME.JPEG", "image/jpeg"), ("/tmp/a.b/c.png", "image/png"),
            ("photo.heic", "image/heic"), ("report.pdf", "application/pdf"), ("data.tar.gz", "application/gzip"),
            ("clip.mov", "video/quicktime"), ("song.m4a", "audio/mp4"), ("page.html", "text/html"),
            ("sheet.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ])
    func known(name: String, type: String) {
        #expect(MediaType.forFile(named: name) == type)
    }

    @Test(
        "a name without a known extension has the type of arbitrary bytes",
        arguments: ["", "Makefile", ".png", "/a.png/file", "name.", "x.unheard-of", "a.png/", "x.bin"])
    func unknown(name: String) {
        #expect(MediaType.forFile(named: name) == "application/octet-stream")
    }
}

private let hasProc = FileManager.default.fileExists(atPath: "/proc/self/fd")

private func withFile(
    of size: Int, _ body: (_ path: String, _ content: Data, _ folder: TemporaryFolder) async throws -> Void
) async throws {
    try await TemporaryFolder.with { folder in
        var generator = SeededGenerator(seed: UInt64(size))
        let content = generator.bytes(size)
        try await body(try folder.file("file.bin", content), content, folder)
    }
}

private func all(_ chunks: FileChunks) async throws -> [Data] {
    var result: [Data] = []
    for try await chunk in chunks { result.append(chunk) }
    return result
}

private func link(to descriptor: Int32) -> String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
}

private func openDescriptors(of path: String) -> Int {
    (0..<1024).count { link(to: $0) == path }
}

/// The reading thread may close the file a moment after the awaiting task has resumed.
private func becomesClosed(_ path: String) async {
    while openDescriptors(of: path) > 0 { await Task.yield() }
}
