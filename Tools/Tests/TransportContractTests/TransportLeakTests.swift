import Foundation
import HTTPTypes
import Martlet
import MartletTesting
import Testing

extension TransportContract {
    /// Checks that an upload releases its files, however it ends.
    @Suite(
        "Leaks", .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "needs /proc"),
        .timeLimit(.minutes(10)))
    struct Leaks {
        enum End: String, CaseIterable, Sendable, CustomTestStringConvertible {
            case cancelled, connectionLost, cancelledWhileReading

            var testDescription: String { rawValue }
        }

        @Test(
            "An aborted upload leaves no open and no temporary file",
            arguments: TransportKind.allCases, End.allCases)
        func brokenOff(_ kind: TransportKind, end: End) async throws {
            if end != .cancelledWhileReading { try kind.needs(.brokenOffFiles) }
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            // Far more than the buffers of two sockets.
            let file = folder.appendingPathComponent("large.bin")
            try Data(count: 48 << 20).write(to: file)
            let before = temporaryFiles()

            let reached = Signal()
            let server = try await WireServer.start { connection in
                _ = try await connection.readHead()
                _ = try await connection.read(300_000)
                reached.fire()
                if end != .connectionLost { await connection.closed() }
            }
            var form = MultipartForm()
            form.append(fileAt: file.path, named: "file")
            if end == .cancelledWhileReading {
                form.append(
                    stream: {
                        ByteStream {
                            {
                                reached.fire()
                                try await Gate().passUnlessCancelled()
                                return nil
                            }
                        }
                    }, length: 1, named: "endless")
            }
            let body = OutgoingBody(try form.stream(), length: try form.contentLength())
            let transport = kind.make()
            let fields: HTTPFields = [.contentType: form.contentType]
            let upload = Task { try await transport.send(request(.post, to: server, fields), body: body) }
            await reached.wait()
            if end == .connectionLost {
                await #expect(throws: (any Error).self) { _ = try await upload.value }
            } else {
                #expect(has(file) || !temporaryFiles().isSubset(of: before))
                upload.cancel()
                await #expect(throws: CancellationError.self) { _ = try await upload.value }
            }
            // Other threads release the last references.
            while has(file) { await Task.yield() }
            while !temporaryFiles().isSubset(of: before) { await Task.yield() }
            await server.stop()
        }

        @Test("Aborted uploads leave no open descriptor", arguments: TransportKind.allCases)
        func manyBrokenOff(_ kind: TransportKind) async throws {
            try kind.needs(.brokenOffFiles)
            // In a process of its own, because other tests open files and sockets, too.
            await #expect(processExitsWith: .success) { [kind = kind as TransportKind] in
                try await TransportContract.Leaks.breakOffMany(over: kind)
            }
        }

        fileprivate static func breakOffMany(over kind: TransportKind) async throws {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try Data(count: 4 << 20).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let transport = kind.make()
            // The first upload creates the descriptors that a transport keeps.
            try await breakOff(file, over: transport)
            let before = openFiles().count
            for _ in 0..<20 { try await breakOff(file, over: transport) }
            while openFiles().count > before + 2 { await Task.yield() }
        }

        private static func breakOff(_ file: URL, over transport: any Transport) async throws {
            let reached = Signal()
            let server = try await WireServer.start { connection in
                _ = try await connection.readHead()
                _ = try await connection.read(100_000)
                reached.fire()
                await connection.closed()
            }
            var form = MultipartForm()
            form.append(fileAt: file.path, named: "file")
            let body = OutgoingBody(try form.stream(), length: try form.contentLength())
            let upload = Task { try await transport.send(request(.post, to: server), body: body) }
            await reached.wait()
            upload.cancel()
            await #expect(throws: CancellationError.self) { _ = try await upload.value }
            await server.allClosed()
            await server.stop()
        }

        /// Whether a file is open, or a copy of it that a transport has made. A copy has no name; Linux shows it as `#`
        /// and a number.
        private func has(_ file: URL) -> Bool {
            let copies = FileManager.default.temporaryDirectory.appendingPathComponent("#")
            return Self.openFiles().contains { $0.hasPrefix(file.path) || $0.hasPrefix(copies.path) }
        }

        /// The paths of the open descriptors of this process.
        private static func openFiles() -> [String] {
            let folder = "/proc/self/fd"
            let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return numbers.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
        }

        /// Temporary files that an upload may have created. Folders belong to other tests.
        private func temporaryFiles() -> Set<String> {
            let folder = FileManager.default.temporaryDirectory
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            return Set(
                names.filter { name in
                    guard name.hasPrefix("martlet-") else { return false }
                    let values = try? folder.appendingPathComponent(name).resourceValues(forKeys: [.isRegularFileKey])
                    return values?.isRegularFile == true
                })
        }
    }
}
