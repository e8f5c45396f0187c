internal import Foundation
internal import HTTPTypes
internal import Testing

@testable import Martlet

@Suite("The media type of content", .timeLimit(.minutes(10)))
struct MediaTypeContentTests {
    @Test("a known type is recognized by its first bytes", arguments: known)
    func recognized(start: [UInt8], type: String) {
        #expect(MediaType.forContent(start) == type)
        #expect(MediaType.forContent(start + Array(repeating: 0xAA, count: 1000)) == type)
        #expect(MediaType.forContent(Data(start).dropFirst(0)) == type)
    }

    @Test("any other content has no type, however short it is", arguments: unknown)
    func unrecognised(start: [UInt8]) {
        #expect(MediaType.forContent(start) == nil)
    }

    @Test("any prefix of a known signature is safe to inspect")
    func prefixes() {
        for (start, _) in known {
            for count in 0...start.count { _ = MediaType.forContent(start.prefix(count)) }
        }
        for byte in UInt8.min...UInt8.max { #expect(MediaType.forContent([byte]) == nil) }
    }

    @Test("a data part without a known extension gets its type from its content")
    func dataParts() async throws {
        let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0])
        var form = try MultipartForm(boundary: "B")
        form.append(png, named: "none")
        form.append(png, named: "unknown", filename: "picture.of-mine")
        form.append(png, named: "extension", filename: "me.jpg")
        form.append(png, named: "bin", filename: "me.bin")
        form.append(png, named: "explicit", contentType: "x/y")
        form.append(png, named: "header", headers: [.contentType: "x/z"])
        form.append(Data("%PDF".utf8), named: "text")
        form.append("%PDF-1.7", named: "string")
        let types = try ReferenceParser.parts(of: try await collected(form), boundary: "B").map(\.contentType)
        #expect(
            types == [
                "image/png", "image/png", "image/jpeg", "application/octet-stream", "x/y", "x/z",
                "application/octet-stream", nil,
            ])
    }

    @Test("a file part without a known extension gets its type from its content at the time of sending")
    func fileParts() async throws {
        try await TemporaryFolder.with { folder in
            let pdf = Data("%PDF-1.7\n".utf8) + Data(repeating: 1, count: 300_000)
            let path = try folder.file("scan", pdf)
            var form = try MultipartForm(boundary: "B")
            form.append(fileAt: path, named: "none")
            form.append(fileAt: path, named: "extension", filename: "scan.png")
            form.append(fileAt: path, named: "unknown", filename: "scan.of-mine")
            form.append(fileAt: try folder.file("scan.jpg", pdf), named: "path", filename: "scan")
            form.append(fileAt: path, named: "explicit", contentType: "x/y")
            form.append(fileAt: path, named: "header", headers: [.contentType: "x/z"])
            form.append(fileAt: try folder.file("empty"), named: "empty")
            let body = try await collected(form)
            #expect(try form.contentLength() == Int64(body.count))
            let types = try ReferenceParser.parts(of: body, boundary: "B").map(\.contentType)
            #expect(
                types == [
                    "application/pdf", "image/png", "application/pdf", "image/jpeg", "x/y", "x/z",
                    "application/octet-stream",
                ])

            // The length and the bytes come from the same inspection of the files.
            let stream = try form.outgoing()
            try Data("GIF89a".utf8).write(to: URL(fileURLWithPath: path))
            #expect(stream.length == Int64(body.count))
            #expect(try form.contentLength() != Int64(body.count))
            let later = try ReferenceParser.parts(of: try await collected(form), boundary: "B").map(\.contentType)
            #expect(later.first == "image/gif")
        }
    }
}

private func collected(_ form: MultipartForm) async throws -> Data {
    try await form.stream().collect(upTo: 10_000_000)
}

private func box(_ brand: String, compatible: [String] = []) -> [UInt8] {
    let size = 16 + 4 * compatible.count
    return [0, 0, 0, UInt8(size)] + Array("ftyp\(brand)\0\0\0\0\(compatible.joined())".utf8)
}

private let known: [([UInt8], String)] = [
    ([0xFF, 0xD8, 0xFF, 0xE1], "image/jpeg"),
    ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png"),
    (Array("GIF87a".utf8), "image/gif"), (Array("GIF89a".utf8), "image/gif"),
    (Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8 ".utf8), "image/webp"),
    (Array("RIFF\u{1}\u{2}\u{3}\u{4}WAVEfmt ".utf8), "audio/wav"),
    (Array("RIFF\u{1}\u{2}\u{3}\u{4}AVI LIST".utf8), "video/x-msvideo"),
    (Array("FORM\u{1}\u{2}\u{3}\u{4}AIFF".utf8), "audio/aiff"),
    ([0x49, 0x49, 0x2A, 0, 8, 0, 0, 0], "image/tiff"), ([0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8], "image/tiff"),
    ([0, 0, 1, 0, 1, 0], "image/vnd.microsoft.icon"),
    (Array("BM\u{1}\u{2}\u{3}\u{4}\0\0\0\0".utf8), "image/bmp"),
    (box("heic", compatible: ["mif1", "heic"]), "image/heic"), (box("mif1", compatible: ["heic"]), "image/heif"),
    (box("avif", compatible: ["mif1"]), "image/avif"), (box("qt  "), "video/quicktime"),
    (box("mp42", compatible: ["isom"]), "video/mp4"), (box("abcd", compatible: ["wxyz", "isom"]), "video/mp4"),
    (box("M4A "), "audio/mp4"),
    ([0x1A, 0x45, 0xDF, 0xA3, 0x93, 0x42, 0x86, 0x81, 1, 0x42, 0x82, 0x84] + Array("webm".utf8), "video/webm"),
    ([0x1A, 0x45, 0xDF, 0xA3, 0x93, 0x42, 0x82, 0x88] + Array("matroska".utf8), "video/matroska"),
    (Array("ID3\u{4}\0".utf8), "audio/mpeg"), (Array("OggS\0\u{2}".utf8), "audio/ogg"),
    (Array("fLaC\0".utf8), "audio/flac"), (Array("MThd\0\0\0\u{6}".utf8), "audio/midi"),
    (Array("%PDF-1.4".utf8), "application/pdf"), (Array("%!PS-Adobe-3".utf8), "application/postscript"),
    ([0x1F, 0x8B, 8, 0], "application/gzip"), (Array("PK\u{3}\u{4}".utf8), "application/zip"),
    (Array("Rar!\u{1A}\u{7}\0".utf8), "application/vnd.rar"),
    ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "application/x-7z-compressed"),
    ([0x28, 0xB5, 0x2F, 0xFD], "application/zstd"), ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "application/x-xz"),
    (Array("BZh91AY&SY".utf8), "application/x-bzip2"),
]

private let unknown: [[UInt8]] = [
    [], [0xFF], [0xFF, 0xD8], Array("<html>".utf8), Array("BMW is a car, not a bitmap".utf8), Array("BZhou".utf8),
    Array("RIFF".utf8), Array("RIFF\u{1}\u{2}\u{3}\u{4}ABCD".utf8), Array("\0\0\0\u{c}ftypabcd".utf8),
    Array("\0\0\0\u{3}ftypisom".utf8), [0x1A, 0x45, 0xDF, 0xA3], [0x1A, 0x45, 0xDF, 0xA3, 0x42, 0x82],
    Array("%PDF".utf8), Array("PK".utf8), Array(repeating: 0, count: 100),
]
