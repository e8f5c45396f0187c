#if os(Linux)
    import Foundation
    import Testing

    @testable import Martlet
    @testable import MartletStorage

    /// A watch, and the changes that it reports.
    private struct Watched {
        let watch: FolderWatch
        let changes: AsyncStream<Void>

        init(_ folder: String, with inotify: Inotify) throws {
            let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
            watch = try FolderWatch(
                folder, reportChangesOf: ["record"], to: { continuation.yield() },
                reportEnd: { continuation.finish() }, inotify: inotify)
            self.changes = changes
        }
    }

    /// Makes a change that the watches of the folder report.
    private func change(_ folder: String) throws {
        _ = try PrivateFile(path: folder + "/record").replace(with: .init(), if: { true })
    }

    @Suite("Watches of folders", .timeLimit(.minutes(10))) struct FolderWatchTests {
        @Test("more folders are watched than a user may have inotify instances, and each reports its own changes")
        func many() async throws {
            try await TemporaryFolder.with { folder in
                let inotify = Inotify()
                // A user may have 128 instances by default.
                let folders = (0..<300).map { "\(folder.path)/\($0)" }
                for folder in folders { try PrivateFile(path: folder + "/record").makeFolder() }
                let watched = try folders.map { try Watched($0, with: inotify) }
                #expect(inotify.watchCount == 300)
                for (folder, watched) in zip(folders, watched) {
                    try change(folder)
                    var changes = watched.changes.makeAsyncIterator()
                    #expect(await changes.next() != nil)
                }
                for watched in watched { watched.watch.cancel() }
                #expect(inotify.watchCount == 0)
            }
        }

        @Test("two watches of a folder end one by one") func sameFolder() async throws {
            try await TemporaryFolder.with { folder in
                let inotify = Inotify()
                let first = try Watched(folder.path, with: inotify)
                let second = try Watched(folder.path, with: inotify)
                #expect(inotify.watchCount == 1)
                first.watch.cancel()
                try change(folder.path)
                var changes = second.changes.makeAsyncIterator()
                #expect(await changes.next() != nil)
                second.watch.cancel()
                #expect(inotify.watchCount == 0)
            }
        }

        @Test("the watch of a store ends with the stream of changes") func storeEnds() async throws {
            try await TemporaryFolder.with { folder in
                let inotify = Inotify()
                let store = FileTokenStore(
                    path: folder.path + "/record",
                    watcher: { (folder, names, report, reportEnd) throws(StorageError) -> FolderWatch in
                        try FolderWatch(
                            folder, reportChangesOf: names, to: report, reportEnd: reportEnd, inotify: inotify)
                    })
                let changes = try #require(store.changes())
                _ = await store.read()
                #expect(inotify.watchCount == 1)
                let listener = Task { for await _ in changes {} }
                listener.cancel()
                await listener.value
                while inotify.watchCount > 0 { await Task.yield() }
            }
        }

        @Test("a watch that begins while others of its folder end reports changes") func concurrent() async throws {
            try await TemporaryFolder.with { folder in
                let inotify = Inotify()
                await withThrowingTaskGroup { group in
                    for _ in 0..<1000 {
                        group.addTask {
                            let watched = try Watched(folder.path, with: inotify)
                            defer { watched.watch.cancel() }
                            try change(folder.path)
                            var changes = watched.changes.makeAsyncIterator()
                            #expect(await changes.next() != nil)
                        }
                    }
                }
                #expect(inotify.watchCount == 0)
            }
        }

        @Test("all watches of a folder that is removed end, and the next ones watch its successor")
        func removed() async throws {
            try await TemporaryFolder.with { folder in
                let inotify = Inotify()
                let path = folder.path + "/app"
                let record = PrivateFile(path: path + "/record")
                try record.makeFolder()
                let ended = try (0..<3).map { _ in try Watched(path, with: inotify) }
                try FileManager.default.removeItem(atPath: path)
                for watched in ended {
                    for await _ in watched.changes {}
                    watched.watch.cancel()
                }
                try record.makeFolder()
                let next = try Watched(path, with: inotify)
                try change(path)
                var changes = next.changes.makeAsyncIterator()
                #expect(await changes.next() != nil)
                next.watch.cancel()
                #expect(inotify.watchCount == 0)
            }
        }
    }
#endif
