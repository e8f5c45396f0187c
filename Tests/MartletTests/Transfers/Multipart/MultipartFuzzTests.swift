internal import Foundation
internal import MartletTesting
internal import Testing

@testable import Martlet

/// `make fuzz-multipart` runs more forms: `MARTLET_FORMS` is their number and `MARTLET_FIRST_FORM` the first seed.
@Suite("Random multipart forms", .serialized, .timeLimit(.minutes(10)))
struct MultipartFuzzTests {
    private static let batch = 100

    @Test("the length is as announced, and the parts are parsed as written", arguments: Self.batches(of: 600))
    func strictly(seeds: Range<UInt64>) async throws {
        try await TemporaryFolder.with { folder in
            for seed in seeds {
                let random = try RandomForm(seed: seed, folder: folder.path)
                let body = try await bytes(of: random, seed: seed)
                let parts = try ReferenceParser.parts(of: body, boundary: random.form.boundary)
                #expect(parts.map(\.content) == random.parts.map(\.content), "seed \(seed)")
                #expect(parts.map(\.name) == random.parts.map(\.name), "seed \(seed)")
                #expect(parts.map(\.filename) == random.parts.map(\.filename), "seed \(seed)")
                #expect(parts.allSatisfy { $0.contentType == RandomForm.contentType }, "seed \(seed)")
            }
        }
    }

    @Test(
        "other parsers read the same parts",
        .enabled(if: ForeignParser.isInstalled, "\(ForeignParser.isMissing)"), .timeLimit(.minutes(10)),
        arguments: [ForeignParser.werkzeug, .pythonMultipart], Self.batches(of: 200))
    func foreignParsers(parser: ForeignParser, seeds: Range<UInt64>) async throws {
        try await TemporaryFolder.with { folder in
            var forms: [ForeignParser.Form] = []
            var expectations: [[ReadPart]] = []
            for seed in seeds {
                let random = try RandomForm(seed: seed, folder: folder.path, isPlain: true)
                let body = try await bytes(of: random, seed: seed)
                forms.append(.init(contentType: random.form.contentType, body: body))
                expectations.append(
                    random.parts.map {
                        ReadPart(
                            name: $0.name, filename: $0.filename, contentType: RandomForm.contentType,
                            content: $0.content)
                    })
            }
            let read = try await parser.parts(of: forms)
            for (seed, (parts, expected)) in zip(seeds, zip(read, expectations)) {
                #expect(parts.map(\.escaped) == expected.map(\.escaped), "seed \(seed)")
            }
            #expect(read.count == expectations.count)
        }
    }

    private func bytes(of random: RandomForm, seed: UInt64) async throws -> Data {
        let length = try random.form.contentLength()
        let body = try await random.form.stream().collect(upTo: 10_000_000)
        #expect((length != nil) == random.isLengthKnown, "seed \(seed)")
        #expect(length ?? Int64(body.count) == Int64(body.count), "seed \(seed)")
        return body
    }

    private static func batches(of standard: Int) -> [Range<UInt64>] {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["MARTLET_FORMS"].flatMap { Int($0) } ?? standard
        let first = environment["MARTLET_FIRST_FORM"].flatMap { UInt64($0) } ?? 0
        return stride(from: 0, to: max(count, 1), by: batch).map { start in
            first + UInt64(start)..<first + UInt64(min(start + batch, max(count, 1)))
        }
    }
}
