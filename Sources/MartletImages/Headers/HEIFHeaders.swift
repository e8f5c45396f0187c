#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What HEIF files say of themselves (ISO/IEC 14496-12, section 8.11; ISO/IEC 23008-12, annex A).
///
/// The libraries that decode them tell the rest; each has another way to the metadata, or none.
enum HEIFHeaders {
    /// More is not believed; the parts of an item may be the same bytes again and again.
    private static let maximumSize = 1 << 20

    /// The TIFF structure of the first item with EXIF metadata.
    static func exif(in file: Data) -> Data? {
        file.withUnsafeBytes { bytes in
            let file = ByteView(bytes)
            guard let meta = content(of: "meta", in: file)?.part(from: 4), let item = exifItem(in: meta) else {
                return nil
            }
            let block = bytesOfItem(item, in: meta, of: file)
            return block.withUnsafeBytes { block in
                let block = ByteView(block)
                // Before it stands how many bytes there are to skip, such as the marker that JPEG has.
                guard let skipped = block.number(at: 0, bytes: 4) else { return nil }
                let tiff = block.part(from: 4 + min(skipped, block.count))
                return tiff.has("II") || tiff.has("MM") ? tiff.data : nil
            }
        }
    }

    /// What is in the first box of a name.
    private static func content(of name: String, in bytes: ByteView) -> ByteView? {
        var place = 0
        while let size = bytes.number(at: place, bytes: 4), let found = bytes.name(at: place + 4) {
            var (head, size) = (8, size)
            if size == 1 {
                // The size itself does not fit into four bytes.
                guard let large = bytes.number(at: place + 8, bytes: 8) else { return nil }
                (head, size) = (16, large)
            } else if size == 0 {
                size = bytes.count - place
            }
            guard size >= head else { return nil }
            if found == name { return bytes.part(from: place + head, count: size - head) }
            // Beyond the end there is nothing more to be read; a sum could go beyond what an integer holds.
            guard size <= bytes.count - place else { return nil }
            place += size
        }
        return nil
    }

    /// The number of the first item with EXIF metadata.
    private static func exifItem(in meta: ByteView) -> Int? {
        guard let infos = content(of: "iinf", in: meta), let version = infos[0] else { return nil }
        var place = version == 0 ? 6 : 8
        while let size = infos.number(at: place, bytes: 4), size >= 12, size <= infos.count - place {
            let entry = infos.part(from: place, count: size)
            place += size
            guard entry.has("infe", at: 4), let version = entry[8], version >= 2 else { continue }
            let length = version == 2 ? 2 : 4
            if entry.has("Exif", at: 12 + length + 2) { return entry.number(at: 12, bytes: length) }
        }
        return nil
    }

    /// The bytes of an item, as far as they are in this file.
    private static func bytesOfItem(_ wanted: Int, in meta: ByteView, of file: ByteView) -> Data {
        guard let table = content(of: "iloc", in: meta), let version = table[0], version <= 2 else { return Data() }
        var reader = Reader(bytes: table, place: 4)
        let sizes = [reader.next(1), reader.next(1)].compactMap(\.self)
        guard sizes.count == 2 else { return Data() }
        let (offsetSize, lengthSize, baseSize) = (sizes[0] >> 4, sizes[0] & 15, sizes[1] >> 4)
        let indexSize = version == 0 ? 0 : sizes[1] & 15
        let numberSize = version == 2 ? 4 : 2
        for _ in 0..<(reader.next(numberSize) ?? 0) {
            guard let number = reader.next(numberSize), let method = version == 0 ? 0 : reader.next(2),
                reader.next(2) != nil, let base = reader.next(baseSize), let count = reader.next(2)
            else { break }
            guard number == wanted else {
                reader.place += count * (indexSize + offsetSize + lengthSize)
                continue
            }
            // In the file, or in what the box itself holds; derived items are no metadata.
            let source = method & 15 == 0 ? file : method & 15 == 1 ? content(of: "idat", in: meta) : nil
            var result = Data()
            for _ in 0..<count {
                guard let source, reader.next(indexSize) != nil, let offset = reader.next(offsetSize),
                    let length = reader.next(lengthSize)
                else { return Data() }
                let (place, overflows) = base.addingReportingOverflow(offset)
                guard !overflows else { return Data() }
                let part = source.part(from: place)
                result += part.part(from: 0, count: min(length == 0 ? part.count : length, maximumSize)).data
                guard result.count <= maximumSize else { return Data() }
            }
            return result
        }
        return Data()
    }

    /// Reads one number after the other.
    private struct Reader {
        let bytes: ByteView
        var place: Int

        /// The next number of so many bytes, at most eight; 0 of none.
        mutating func next(_ length: Int) -> Int? {
            guard length <= 8, let number = bytes.number(at: place, bytes: length) else { return nil }
            place += length
            return number
        }
    }
}
