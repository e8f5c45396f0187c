import Foundation
import MartletTesting
import Testing

@testable import Martlet

// MARK: - Resume data and stale files

extension PartialDownloadTests {
    @Test("damaged or inconsistent resume data is ignored") func damaged() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            for damage in [
                #"{"resumeFingerprint":"#, #"{"resumeFingerprint":"x","validator":"\"one\"","total":3}"#, "",
            ] {
                await breakOff(path, at: 4000)
                try Data(damage.utf8).write(to: URL(fileURLWithPath: PartialDownload(path).destination.resumeData))
                let transport = server.transport
                try await client(transport).download(Get("/film", .none), to: path, options: options)
                #expect(transport.requests.first?.headers[.range] == nil)
                #expect(FileManager.default.contents(atPath: path) == content)
            }
        }
    }

    @Test("a failure to write the resume data has the system's reason") func unwritableResumeData() async throws {
        try await TemporaryFolder.with { folder in
            let head = HTTPResponse(status: .ok, headerFields: [.contentLength: "10", .eTag: "\"one\""])
            let notes = try #require(PartialDownload.ResumeData(head, resumeFingerprint: "film"))
            await #expect(throws: FileError(.missingFolder, path: folder.path + "/none")) {
                try await BlockingQueue.run { try PartialDownload(folder.path + "/none/film.bin").write(notes) }
            }
        }
    }

    @Test("files left by killed processes are removed") func leftovers() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            let destination = PartialDownload(path).destination
            try folder.file(destination.hiddenName + ".1f.tmp")
            await breakOff(path, at: 4000)
            #expect(Set(folder.names) == [destination.hiddenName, destination.hiddenName + ".json"])
            try folder.file(destination.hiddenName + ".2f.tmp")
            await client(server.transport).discardPartialDownload(to: path)
            #expect(folder.names == [])
        }
    }

    @Test("writing the resume data does not scan for stale files again") func clearedOnce() async throws {
        try await TemporaryFolder.with { folder in
            let partial = PartialDownload(folder.path + "/film.bin")
            let head = HTTPResponse(status: .ok, headerFields: [.contentLength: "10", .eTag: "\"one\""])
            let notes = try #require(PartialDownload.ResumeData(head, resumeFingerprint: "film"))
            let left = partial.destination.hiddenName + ".1f.tmp"
            try folder.file(left)
            try await BlockingQueue.run { try partial.write(notes) }
            #expect(Set(folder.names) == [left, partial.destination.hiddenName + ".json"])
        }
    }
}
