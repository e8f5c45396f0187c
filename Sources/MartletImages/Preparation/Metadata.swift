#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Inserts EXIF metadata into encoded files.
enum Metadata {
    /// The number of bytes that the metadata add to a file; `nil` if the format cannot hold them.
    static func cost(of exif: Data, in format: ImageFormat) -> Int? {
        switch format {
        // A segment's length has 16 bits and includes itself.
        case .jpeg: exif.count <= 65_527 ? exif.count + 10 : nil
        case .png: exif.count + 12
        // Includes the VP8X chunk, which announces the metadata.
        case .webP: exif.count + exif.count % 2 + 8 + 18
        }
    }

    /// Returns the file with the metadata.
    static func insert(_ exif: Data, into file: Data, _ format: ImageFormat, _ size: PixelSize) -> Data {
        switch format {
        case .jpeg:
            // After the SOI marker (EXIF 2.32, section 4.5.4).
            let length = exif.count + 8
            let head = [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)] + Array("Exif\0\0".utf8)
            return file.prefix(2) + head + exif + file.dropFirst(2)
        case .png:
            // After the signature of 8 bytes and IHDR of 25 bytes.
            return file.prefix(33) + pngChunk("eXIf", exif) + file.dropFirst(33)
        case .webP:
            return webP(file, exif, size)
        }
    }

    static func pngChunk(_ name: String, _ content: Data) -> Data {
        let body = Data(name.utf8) + content
        return bigEndian(UInt32(content.count)) + body + bigEndian(crc(of: body))
    }

    private static func bigEndian(_ number: UInt32) -> Data {
        Data([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) })
    }

    private static func littleEndian(_ number: Int, bytes: Int = 4) -> Data {
        Data((0..<bytes).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
    }

    /// The CRC-32 of PNG (ISO/IEC 15948, annex D).
    private static func crc(of bytes: Data) -> UInt32 {
        var crc = UInt32.max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }

    /// Converts a WebP to the extended format with EXIF (RFC 9649, section 2.7).
    private static func webP(_ file: Data, _ exif: Data, _ size: PixelSize) -> Data {
        let chunks = file.dropFirst(12)
        var flags: UInt8 = 0x08
        var body = chunks
        if chunks.prefix(4).elementsEqual(Array("VP8X".utf8)) {
            flags |= chunks[chunks.startIndex + 8]
            body = chunks.dropFirst(18)
        } else if chunks.prefix(4).elementsEqual(Array("VP8L".utf8)), chunks.count > 12 {
            flags |= chunks[chunks.startIndex + 12] & 0x10
        }
        var extended = Data("VP8X".utf8) + littleEndian(10) + Data([flags, 0, 0, 0])
        extended += littleEndian(size.width - 1, bytes: 3) + littleEndian(size.height - 1, bytes: 3)
        var result = extended + body + Data("EXIF".utf8) + littleEndian(exif.count) + exif
        if exif.count % 2 == 1 { result.append(0) }
        return Data("RIFF".utf8) + littleEndian(result.count + 4) + Data("WEBP".utf8) + result
    }
}
