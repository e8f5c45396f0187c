import Foundation
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("Flushing a record to the disk", .timeLimit(.minutes(10))) struct FlushTests {
    @Test("the bytes and the folder are flushed, so that a crash leaves the old record or the new one") func flushing()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let steps = Log()
            let store = FileTokenStore(
                path: folder.path + "/session.json",
                steps: FileSteps(
                    reached: { steps.add("\($0)") },
                    flush: { descriptor in
                        var status = stat()
                        fstat(descriptor, &status)
                        steps.add(status.st_mode & S_IFMT == S_IFDIR ? "flush the folder" : "flush the file")
                        return Disk.flush(descriptor)
                    }))
            try await store.write(StoredSession(id: SessionID(), tokens: .fresh()))
            let ofRecord = steps.lines.drop { $0 != "temporaryMade" }
            #expect(
                ofRecord == [
                    "temporaryMade", "written", "flush the file", "flushed", "renamed", "flush the folder",
                    "folderFlushed",
                ])
        }
    }
}
