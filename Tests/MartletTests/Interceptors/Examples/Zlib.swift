import Foundation

/// The system's zlib, loaded at run time.
struct Zlib: Sendable {
    struct Failure: Error {
        let code: CInt
    }

    private typealias Convert =
        @convention(c) @Sendable (
            UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<CUnsignedLong>, UnsafePointer<UInt8>, CUnsignedLong
        )
        -> CInt
    private typealias Checksum =
        @convention(c) @Sendable (CUnsignedLong, UnsafePointer<UInt8>, CUnsignedInt) -> CUnsignedLong

    private let compress: Convert
    private let uncompress: Convert
    private let crc32: Checksum
    private let adler32: Checksum

    /// `nil` if the system has no zlib.
    static let shared: Zlib? = {
        guard let handle = dlopen("libz.so.1", RTLD_NOW) ?? dlopen("libz.1.dylib", RTLD_NOW),
            let compress = dlsym(handle, "compress"), let uncompress = dlsym(handle, "uncompress"),
            let crc32 = dlsym(handle, "crc32"), let adler32 = dlsym(handle, "adler32")
        else { return nil }
        return Zlib(
            compress: unsafeBitCast(compress, to: Convert.self),
            uncompress: unsafeBitCast(uncompress, to: Convert.self),
            crc32: unsafeBitCast(crc32, to: Checksum.self), adler32: unsafeBitCast(adler32, to: Checksum.self))
    }()

    /// Compresses bytes to the format of gzip (RFC 1952).
    func gzip(_ bytes: Data) throws -> Data {
        // zlib's own format (RFC 1950) has the same compressed blocks within another header and trailer.
        let blocks = try convert(bytes, into: bytes.count + 1024, compress).dropFirst(2).dropLast(4)
        let header = Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
        let trailer = littleEndian(checksum(bytes, 0, crc32)) + littleEndian(UInt32(truncatingIfNeeded: bytes.count))
        return header + blocks + trailer
    }

    /// Decompresses the format of gzip.
    /// - Parameter expected: The bytes to expect: their checksum is part of zlib's format, and not of gzip's.
    /// - Returns: `nil` if the bytes are damaged or others.
    func gunzip(_ bytes: Data, like expected: Data) -> Data? {
        guard bytes.starts(with: [0x1f, 0x8b, 8, 0]), bytes.count > 18 else { return nil }
        let trailer = littleEndian(checksum(expected, 0, crc32)) + littleEndian(UInt32(expected.count))
        guard bytes.suffix(8) == trailer else { return nil }
        let adler = Data(littleEndian(checksum(expected, 1, adler32)).reversed())
        return try? convert(
            Data([0x78, 0x9c]) + bytes.dropFirst(10).dropLast(8) + adler, into: expected.count, uncompress)
    }

    private func convert(_ bytes: Data, into capacity: Int, _ function: Convert) throws -> Data {
        let source = [UInt8](bytes)
        var target = [UInt8](repeating: 0, count: capacity)
        var count = CUnsignedLong(capacity)
        let code = function(&target, &count, source, CUnsignedLong(source.count))
        guard code == 0 else { throw Failure(code: code) }
        return Data(target.prefix(Int(count)))
    }

    private func checksum(_ bytes: Data, _ start: CUnsignedLong, _ function: Checksum) -> UInt32 {
        let bytes = [UInt8](bytes)
        return UInt32(truncatingIfNeeded: function(start, bytes, CUnsignedInt(bytes.count)))
    }

    private func littleEndian(_ value: UInt32) -> Data {
        Data((0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }
}
