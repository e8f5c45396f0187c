import Testing

@testable import MartletImages

@Suite("AV1 headers", .timeLimit(.minutes(10)))
struct AV1HeadersTests {
    /// A sequence header as libaom writes it for films of 128 x 96 pixels: each frame carries a flag for screen content
    /// tools.
    private static let film: [UInt8] = [0x0A, 13, 0, 0, 0, 3, 0x37, 0xFB, 0xE6, 0xD7, 0xC8, 0x80, 0x86, 0x83, 0x42]
    /// The same for a still picture, whose frames carry no such flag.
    private static let still: [UInt8] = [0x0A, 9, 0x18, 0x19, 0xBF, 0xDF, 0x68, 0x80, 0x86, 0x83, 0x42]
    private static let size = PixelSize(width: 128, height: 96)

    @Test("frames without a size of their own have the size of the sequence")
    func frames() {
        for frame in [0x10, 0x14, 0x16, 0x18, 0x80, 0x08, 0x32] as [UInt8] {
            for kind in [0x1A, 0x32, 0x3A] as [UInt8] {
                #expect(Self.size(Self.film + [kind, 2, frame, 0]) == Self.size)
            }
        }
        // A still picture's frame header has no size flag, so its bits do not matter.
        #expect(Self.size(Self.still + [0x32, 2, 0xFF, 0xFF]) == Self.size)
        // The last unit may omit its length.
        #expect(Self.size(Self.film + [0x30, 0x10, 0]) == Self.size)
    }

    @Test("a frame that declares its own size makes the result unknown, because that size may be larger")
    func ownSizes() {
        // A shown frame with and without screen content tools, one that is not shown, and frames of the other types.
        for frame in [
            [0x12, 0], [0x15, 0], [0x1A, 0], [0, 0x80], [0x08, 0x80], [0x31, 0], [0x51, 0], [0x70, 0],
        ] as [[UInt8]] {
            for kind in [0x1A, 0x32, 0x3A] as [UInt8] { #expect(Self.size(Self.film + [kind, 2] + frame) == nil) }
            #expect(Self.size(Self.still + [0x32, 2] + frame) == Self.size)
            #expect(Self.size(Self.film + [0x30] + frame) == nil)
        }
        // After a frame without a size; before any sequence header; and too short for the flag.
        #expect(Self.size(Self.film + [0x32, 2, 0x10, 0, 0x32, 2, 0x12, 0]) == nil)
        #expect(Self.size([0x32, 2, 0x10, 0] + Self.film) == nil)
        #expect(Self.size(Self.film + [0x32, 0]) == nil)
    }

    @Test("headers are read to the end, timing and frame numbers included", arguments: [0, 1])
    func longHeaders(flag: Int) {
        let zeros = String(repeating: "0", count: 32)
        // Profile and kind; 32-bit times; a decoder model with 2-bit delays and 3-bit times; an operating point with
        // both;
        let start =
            "00000 1" + zeros + zeros + "0 1 00001" + zeros + "00000 00010" + "0 00000 000000000000 00000 1 11111"
        // 8 x 8 pixels; 5-bit frame numbers; tools, order hints, screen content tools always on, and vectors chosen per
        // frame.
        let sequence = Self.bytes(start + "0011 0011 0111 0111" + "1 0001 001" + "0000000 1 00 0 1 1 1")
        // A shown frame with a presentation time, integer vectors and a frame number.
        let frame = Self.bytes("0 00 1 111 0 1 11111 \(flag)")
        let units = [0x0A, UInt8(sequence.count)] + sequence + [0x32, UInt8(frame.count)] + frame
        #expect(Self.size(units) == (flag == 0 ? PixelSize(width: 8, height: 8) : nil))
    }

    @Test("a unit that extends past the end makes the size unknown")
    func beyond() {
        #expect(Self.size(Self.film + [0x2A, 1, 0]) == Self.size)
        for rest in [[0x2A, 2, 0], [0x2A, 0x80, 1, 0], [0x2A, 0x80], [0x2A], [0x2E]] as [[UInt8]] {
            #expect(Self.size(Self.film + rest) == nil)
        }
        #expect(Self.size(Array(Self.film.dropLast())) == nil)
    }

    @Test("a configuration holds only sequence headers, and its last unit must have a length")
    func configuration() {
        let head: [UInt8] = [0x81, 0, 12, 0]
        #expect(Self.size(head, isConfiguration: true) == .zero)
        #expect(Self.size(head + Self.film + [0x2A, 1, 0], isConfiguration: true) == Self.size)
        for rest in [[0x2A, 2, 0], [0x28], [0x28, 0], [0x32, 2, 0x10, 0], [0]] as [[UInt8]] {
            #expect(Self.size(head + Self.film + rest, isConfiguration: true) == nil)
        }
        #expect(Self.size(head + [0x08] + Self.film.dropFirst(2), isConfiguration: true) == nil)
    }

    @Test("at most 64 units are read", arguments: [64, 65])
    func many(count: Int) {
        let film = (0..<count).flatMap { _ in Self.film }
        #expect(Self.size(film) == (count == 64 ? Self.size : nil))
    }

    private static func size(_ bytes: [UInt8], isConfiguration: Bool = false) -> PixelSize? {
        bytes.withUnsafeBytes {
            isConfiguration ? AV1Headers.size(inConfiguration: ByteView($0)) : AV1Headers.size(in: ByteView($0))
        }
    }

    private static func bytes(_ digits: String) -> [UInt8] {
        let bits = digits.compactMap { $0 == "0" ? 0 : $0 == "1" ? 1 : nil } as [UInt8]
        return stride(from: 0, to: bits.count, by: 8).map { start in
            (start..<start + 8).reduce(0) { $0 << 1 | ($1 < bits.count ? bits[$1] : 0) }
        }
    }
}
