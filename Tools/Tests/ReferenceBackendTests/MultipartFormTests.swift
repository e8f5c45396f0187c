import Foundation
import Martlet
import MartletTesting
import NIOCore
import Testing

@testable import ReferenceBackend

@Suite("Random multipart forms", .timeLimit(.minutes(10)))
struct MultipartFormTests {
    @Test("The backend parses what the library encodes, in pieces of any size", arguments: Self.forms())
    func randomForm(seed: UInt64) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let random = try RandomForm(seed: seed, folder: folder.path, isPlain: true)
        let body = try await random.form.stream().collect(upTo: 10_000_000)
        var generator = SeededGenerator(seed: seed)
        var parser = MultipartParser(boundary: random.boundary)
        var parts: [RandomForm.Part] = []
        var ended = 0
        for piece in RandomForm.cut(body, &generator) {
            for event in try parser.feed(ByteBuffer(bytes: piece)) {
                switch event {
                case .partBegan(let headers):
                    #expect(headers.contentType == RandomForm.contentType)
                    parts.append(.init(name: headers.name, filename: headers.filename, content: Data()))
                case .content(let bytes): parts[parts.count - 1].content.append(contentsOf: bytes.readableBytesView)
                case .partEnded: ended += 1
                }
            }
        }
        try parser.finish()
        #expect(ended == parts.count)
        #expect(parts.map(\.content) == random.parts.map(\.content))
        #expect(parts.map { written($0.name) } == random.parts.map { written($0.name) })
        #expect(parts.map { $0.filename.map(written) } == random.parts.map { $0.filename.map(written) })
    }

    /// The name after encoding. A NUL is replaced, and the backend does not restore it.
    private func written(_ name: String) -> String {
        String(decoding: name.utf8.flatMap { $0 == 0 ? Array("%00".utf8) : [$0] }, as: UTF8.self)
    }

    private static func forms() -> Range<UInt64> {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["MARTLET_FIRST_FORM"].flatMap { UInt64($0) } ?? 0
        return first..<first + (environment["MARTLET_FORMS"].flatMap { UInt64($0) } ?? 300)
    }
}
