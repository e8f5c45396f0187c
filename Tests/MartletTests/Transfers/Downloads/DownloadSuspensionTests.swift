import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

/// A download to a file, and a system that can suspend the app in the middle of it.
private struct SuspendedDownload {
    let folder: TemporaryFolder
    let system: FakeActivities
    let activity: SharedActivity
    let time = ManualTimeSource()
    let tokens: TokenManager?
    /// Large enough that each piece is written by itself.
    let pieces = (0..<4).map { Data(repeating: UInt8($0), count: 300_000) }

    init(folder: TemporaryFolder, tokens: TokenManager? = nil) {
        self.folder = folder
        self.tokens = tokens
        system = FakeActivities()
        activity = SharedActivity(system.activities, reason: "A test")
    }

    var path: String { folder.path + "/film" }
    var content: Data { pieces.reduce(Data(), +) }
    var partial: String { PartialDownload(path).destination.partial }

    func start(_ name: String = "film") async throws -> DownloadReceiver {
        var options = DownloadOptions()
        options.keepsPartial = true
        return try await DownloadReceiver(
            to: folder.path + "/" + name, options, of: "film", for: PartialDownloadOwner(tokens), activity: activity,
            time: time)
    }

    /// The response to a request for the file from a position on.
    static func head(_ content: Data, from start: Int = 0) -> HTTPResponse {
        var head = HTTPResponse(
            status: start == 0 ? .ok : .partialContent,
            headerFields: [.contentLength: "\(content.count - start)", .eTag: "\"one\""])
        if start > 0 { head.headerFields[.contentRange] = "bytes \(start)-\(content.count - 1)/\(content.count)" }
        return head
    }

    /// Receives a response.
    /// - Parameter beforePiece: Called before each piece, with its number.
    func receive(
        _ receiver: DownloadReceiver, from start: Int = 0, _ beforePiece: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        let pieces = pieces.dropFirst(start)
        let body = ByteStream {
            var rest = pieces
            return {
                guard let piece = rest.first else { return nil }
                try await beforePiece(rest.startIndex)
                rest = rest.dropFirst()
                return piece
            }
        }
        let response = IncomingResponse(
            attempt: receiver.attempt, head: Self.head(content, from: start * 300_000), body: body,
            progress: { _ in }, finish: {}, slot: nil, owner: tokens?.currentOwner ?? .unbound)
        try await receiver.receive(response)
    }

    /// Returns when the unfinished file has all pieces before this one.
    func written(before piece: Int) async {
        var status = stat()
        while stat(partial, &status) != 0 || status.st_size != piece * 300_000 { await Task.yield() }
    }

    /// Locks the unfinished file as another process does.
    /// - Returns: The descriptor.
    func lock() throws -> Int32 {
        let descriptor = open(partial, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        #expect(StaleFiles.claim(descriptor) == .held, "the lock was not given up")
        return descriptor
    }
}

@Suite("Downloads on systems that suspend apps", .timeLimit(.minutes(10))) struct DownloadSuspensionTests {
    @Test("a download gives up its lock when the app is suspended, and goes on if no other used the file")
    func goesOn() async throws {
        try await TemporaryFolder.with { folder in
            let download = SuspendedDownload(folder: folder)
            let receiver = try await download.start()
            try await download.receive(receiver) { piece in
                guard piece > 0 else { return }
                await download.written(before: piece)
                download.system.expireLast()
                close(try download.lock())
            }
            try await complete(receiver, SuspendedDownload.head(download.content))
            #expect(FileManager.default.contents(atPath: download.path) == download.content)
            #expect(folder.names == ["film"])
            #expect(download.system.started.withLock { $0.count } > 1)
            await download.system.waitUntilAllReturned()
        }
    }

    @Test("a download whose session ends while the app is suspended does not publish its file") func sessionEnds()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let app = try await App.signedIn()
            let download = SuspendedDownload(folder: folder, tokens: app.tokens)
            let receiver = try await download.start()
            try await download.receive(receiver) { _ in }
            download.system.grantsActivities.withLock { $0 = false }
            download.system.expireLast()
            let finish = Task { try await complete(receiver, SuspendedDownload.head(download.content)) }
            await download.time.waitForSleepers()
            await app.tokens.signOut()
            download.system.grantsActivities.withLock { $0 = true }
            download.time.advance(by: ExpiringActivities.pause)
            await #expect(throws: SessionError.sessionChanged) { try await finish.value }
            await receiver.abandon()
            #expect(!folder.names.contains("film"))
            await download.system.waitUntilAllReturned()
        }
    }

    @Test("without a suspension, a download has one activity, which ends with it", arguments: [true, false])
    func undisturbed(succeeds: Bool) async throws {
        try await TemporaryFolder.with { folder in
            let download = SuspendedDownload(folder: folder)
            let receiver = try await download.start()
            try await download.receive(receiver) { _ in
                #expect(download.system.started.withLock { $0.map(\.hasReturned) } == [false])
            }
            if succeeds {
                try await complete(receiver, SuspendedDownload.head(download.content))
            } else {
                await receiver.abandon()
            }
            await download.system.waitUntilAllReturned()
            #expect(download.system.started.withLock { $0.count } == 1)
        }
    }

    @Test(
        "a download whose file another process used during a suspension fails, and leaves the file to it",
        arguments: ["locked", "longer", "replaced", "removed"])
    func takenOver(change: String) async throws {
        try await TemporaryFolder.with { folder in
            let download = SuspendedDownload(folder: folder)
            let receiver = try await download.start()
            let other = Locked<Int32>(-1)
            let failure = await #expect(throws: DownloadError.self) {
                try await download.receive(receiver) { piece in
                    guard piece == 2 else { return }
                    await download.written(before: piece)
                    download.system.expireLast()
                    let descriptor = try download.lock()
                    switch change {
                    case "longer": #expect(Data("other".utf8).write(to: descriptor, at: 1_000_000))
                    case "replaced": try folder.file("new", Data("other".utf8))
                    case "removed": unlink(download.partial)
                    default: break
                    }
                    if change == "replaced" { rename(folder.path + "/new", download.partial) }
                    if change == "locked" { other.withLock { $0 = descriptor } } else { close(descriptor) }
                }
            }
            #expect(failure?.description.contains("another download used the unfinished file") == true)
            let before = FileManager.default.contents(atPath: download.partial)
            await receiver.abandon()
            #expect(FileManager.default.contents(atPath: download.partial) == before, "the file is the other's")
            #expect(
                before == nil ? change == "removed" : before?.starts(with: Data("other".utf8)) == (change == "replaced")
            )
            #expect(!FileManager.default.fileExists(atPath: download.path))
            other.withLock { descriptor in if descriptor >= 0 { close(descriptor) } }
            await download.system.waitUntilAllReturned()
        }
    }

    @Test("downloads share one activity, which ends with the last, and give up their locks together") func shared()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let download = SuspendedDownload(folder: folder)
            let receivers = [try await download.start("a"), try await download.start("b")]
            #expect(download.system.started.withLock { $0.count } == 1)
            await receivers[0].abandon()
            #expect(download.system.started.withLock { $0.map(\.hasReturned) } == [false])
            let third = try await download.start("c")
            #expect(download.system.started.withLock { $0.count } == 1)
            download.system.expireLast()
            for name in ["b", "c"] {
                let file = open(PartialDownload(folder.path + "/" + name).destination.partial, O_RDWR | O_CLOEXEC)
                #expect(StaleFiles.claim(file) == .held)
                close(file)
            }
            await receivers[1].abandon()
            await third.abandon()
            await download.system.waitUntilAllReturned()
            #expect(folder.names == [])
        }
    }

    @Test("a download begins no activity and locks nothing while the app is being suspended") func refused()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let download = SuspendedDownload(folder: folder)
            download.system.grantsActivities.withLock { $0 = false }
            async let start = download.start()
            await download.time.waitForSleepers()
            #expect(folder.names == [])
            download.system.grantsActivities.withLock { $0 = true }
            download.time.advance(by: .seconds(1))
            try await start.abandon()
            #expect(folder.names == [])
            await download.system.waitUntilAllReturned()
        }
    }

    @Test("bytes that arrive while the app is being suspended are requested again") func requestedAgain()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let download = SuspendedDownload(folder: folder)
            let receiver = try await download.start()
            let request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/film")
            let failure = await #expect(throws: TransportError.self) {
                try await download.receive(receiver) { piece in
                    guard piece == 2 else { return }
                    await download.written(before: piece)
                    download.system.grantsActivities.withLock { $0 = false }
                    download.system.expireLast()
                }
            }
            guard case .connectionLost = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            download.system.grantsActivities.withLock { $0 = true }
            var next = request
            receiver.addFields(to: &next)
            #expect(next.headerFields[.range] == "bytes=600000-")
            try await download.receive(receiver, from: 2) { _ in }
            try await complete(receiver, SuspendedDownload.head(download.content, from: 600_000))
            #expect(FileManager.default.contents(atPath: download.path) == download.content)
            await download.system.waitUntilAllReturned()
        }
    }

    @Test("a hidden file that was removed while its lock was given up is not used again") func hiddenFile() async throws
    {
        try await TemporaryFolder.with { folder in
            let file = try IncomingFile.make(
                for: IncomingFile.Destination(folder.path + "/film"), allowsAnonymous: false)
            try file.takeLockAgain(file.giveUpLock())
            #expect(StaleFilesProbe.remaining(in: folder) == 1)
            let mark = file.giveUpLock()
            #expect(StaleFilesProbe.remaining(in: folder) == 0)
            #expect(throws: FileError(.takenOver, path: folder.path + "/film")) { try file.takeLockAgain(mark) }
        }
    }
}

/// Removes stale files as the next download does.
private enum StaleFilesProbe {
    static func remaining(in folder: TemporaryFolder) -> Int {
        IncomingFile.removeLeftovers(of: IncomingFile.Destination(folder.path + "/film"))
        return folder.names.count
    }
}

/// Checks and publishes a file whose body is complete.
private func complete(_ receiver: DownloadReceiver, _ head: HTTPResponse) async throws {
    try await receiver.finish(head)
    try await receiver.publish()
}

extension PartialDownloadOwner {
    /// The owner of the bytes of a client without a jar, a cache and a user.
    init(_ tokens: TokenManager? = nil) {
        self.init(.noUser, in: ResponseStorage(tokens: tokens, jar: nil, cache: nil), since: TimesEmptied())
    }
}
