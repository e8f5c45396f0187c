import Foundation
import MartletLibc
import MartletTesting
import Testing

@testable import Martlet

// MARK: - Other users of the system

extension PartialDownloadTests {
    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    private func inode(_ path: String) -> UInt64 {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    /// Downloads again, and expects a whole new file.
    private func expectNewDownload(_ path: String) async throws {
        let transport = server.transport
        let response = try await client(transport).download(Get("/film", .none), to: path, options: options)
        #expect(response.value.resumedBytes == 0)
        #expect(transport.requests.map { $0.headers[.range] } == [nil])
        #expect(FileManager.default.contents(atPath: path) == content)
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_uid == geteuid())
    }

    @Test("no other user can read or write kept bytes, and the complete file has the usual permissions")
    func permissions() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            let destination = PartialDownload(path).destination
            #expect(mode(destination.partial) == 0o600 && mode(destination.resumeData) == 0o600)
            try await client(server.transport).download(Get("/film", .none), to: path, options: options)
            let usual = folder.path + "/usual"
            close(open(usual, O_WRONLY | O_CREAT, 0o666))
            #expect(mode(path) == mode(usual))
            #expect(folder.names == ["film.bin", "usual"])
        }
    }

    @Test("kept bytes that others could have written are not resumed", arguments: [0o660, 0o606])
    func writable(by others: Int) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            let partial = PartialDownload(path).destination.partial
            #expect(chmod(partial, mode_t(others)) == 0)
            // Another user may keep the old file open.
            let descriptor = open(partial, O_RDONLY)
            defer { close(descriptor) }
            let former = inode(partial)
            try await expectNewDownload(path)
            #expect(inode(path) != former)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("kept bytes that others could only read are resumed, and no other user can read them any more")
    func readable() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            let partial = PartialDownload(path).destination.partial
            #expect(chmod(partial, 0o644) == 0)
            await breakOff(path, at: 2000)
            #expect(mode(partial) == 0o600)
            let response = try await client(server.transport).download(Get("/film", .none), to: path, options: options)
            #expect(response.value.resumedBytes == 6000)
        }
    }

    @Test("resume data that others could have written, or that is a link, is not used", arguments: [false, true])
    func resumeData(isLink: Bool) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            let resumeData = PartialDownload(path).destination.resumeData
            if isLink {
                #expect(rename(resumeData, folder.path + "/elsewhere") == 0)
                #expect(symlink(folder.path + "/elsewhere", resumeData) == 0)
            } else {
                #expect(chmod(resumeData, 0o666) == 0)
            }
            try await expectNewDownload(path)
        }
    }

    @Test("a symbolic link, a folder or a pipe in place of kept bytes is left alone", arguments: 0...2)
    func inTheWay(kind: Int) async throws {
        try await TemporaryFolder.with { folder in
            let (path, other) = (folder.path + "/film.bin", try folder.file("diary", Data("mine".utf8)))
            let partial = PartialDownload(path).destination.partial
            switch kind {
            case 0: #expect(symlink(other, partial) == 0)
            case 1: #expect(mkdir(partial, 0o700) == 0)
            default: #expect(mkfifo(partial, 0o600) == 0)
            }
            let names = folder.names
            await breakOff(path, at: 4000)
            try await expectNewDownload(path)
            #expect(FileManager.default.contents(atPath: other) == Data("mine".utf8))
            #expect(folder.names == (names + ["film.bin"]).sorted())
        }
    }

    @Test("a hard link in place of kept bytes does not overwrite the file that it leads to") func hardLink()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let (path, other) = (folder.path + "/film.bin", try folder.file("diary", Data("mine".utf8)))
            #expect(chmod(other, 0o600) == 0)
            #expect(link(other, PartialDownload(path).destination.partial) == 0)
            try await expectNewDownload(path)
            #expect(FileManager.default.contents(atPath: other) == Data("mine".utf8))
            #expect(folder.names == ["diary", "film.bin"])
        }
    }

    @Test("the files of another user are neither opened nor removed") func anotherUser() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            let stale = PartialDownload(path).destination.hiddenName + ".1f.tmp"
            try folder.file(stale)
            let (options, names) = (options, folder.names)
            // To this user, all of them belong to another one.
            let partial = PartialDownload(path, user: geteuid() + 1)
            try await BlockingQueue.run {
                #expect(try IncomingFile.keptPartial(for: partial.destination, of: geteuid() + 1) == nil)
                let state = try partial.openState(for: options, resumeFingerprint: "film")
                #expect(!state.keepsPartial && state.resumption == nil && state.file != nil)
                partial.removeUnlessInUse()
                partial.remove()
                IncomingFile.removeLeftovers(of: partial.destination, by: geteuid() + 1)
            }
            #expect(folder.names == names)
        }
    }

    @Test(
        "a download beside the kept file of another user begins anew, and leaves that file as it is",
        .enabled(if: geteuid() == 0, "only root can give files away"), arguments: [false, true])
    func foreign(isResumeData: Bool) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            await breakOff(path, at: 4000)
            let destination = PartialDownload(path).destination
            let given = isResumeData ? destination.resumeData : destination.partial
            let former = FileManager.default.contents(atPath: given)
            #expect(chown(given, 12_345, 12_345) == 0)
            try await expectNewDownload(path)
            await client(server.transport).discardPartialDownload(to: path)
            #expect(former != nil && FileManager.default.contents(atPath: given) == former)
        }
    }
}
