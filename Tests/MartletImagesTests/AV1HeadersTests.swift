import Testing

@testable import MartletImages

@Suite("The headers of AV1")
struct AV1HeadersTests {
    /// As libaom writes it for films of 128 x 96 pixels: each frame says whether it has tools for screens.
    private static let film: [UInt8] = [0x0A, 13, 0, 0, 0, 3, 0x37, 0xFB, 0xE6, 0xD7, 0xC8, 0x80, 0x86, 0x83, 0x42]
    /// The same for a single picture, whose frames say nothing.
    private static let still: [UInt8] = [0x0A, 9, 0x18, 0x19, 0xBF, 0xDF, 0x68, 0x80, 0x86, 0x83, 0x42]
    private static let size = PixelSize(width: 128, height: 96)

    @Test("say how large the frames are that say no size of their own")
    func frames() {
        for frame in [0x10, 0x14, 0x16, 0x18, 0x80, 0x08, 0x32] as [UInt8] {
            for kind in [0x1A, 0x32, 0x3A] as [UInt8] {
                #expect(Self.size(Self.film + [kind, 2, frame, 0]) == Self.size)
            }
        }
        // Nothing in it is a flag.
        #expect(Self.size(Self.still + [0x32, 2, 0xFF, 0xFF]) == Self.size)
        // The last unit may be without a length.
        #expect(Self.size(Self.film + [0x30, 0x10, 0]) == Self.size)
    }

    @Test("are not believed where a frame says a size, which may be larger")
    func ownSizes() {
        // A frame that is shown, with the tools for screens and without; one that is not; frames of the other types.
        for frame in [
            [0x12, 0], [0x15, 0], [0x1A, 0], [0, 0x80], [0x08, 0x80], [0x31, 0], [0x51, 0], [0x70, 0],
        ] as [[UInt8]] {
            for kind in [0x1A, 0x32, 0x3A] as [UInt8] { #expect(Self.size(Self.film + [kind, 2] + frame) == nil) }
            #expect(Self.size(Self.still + [0x32, 2] + frame) == Self.size)
            #expect(Self.size(Self.film + [0x30] + frame) == nil)
        }
        // Behind frames that say none, and before any sequence or too short to say it.
        #expect(Self.size(Self.film + [0x32, 2, 0x10, 0, 0x32, 2, 0x12, 0]) == nil)
        #expect(Self.size([0x32, 2, 0x10, 0] + Self.film) == nil)
        #expect(Self.size(Self.film + [0x32, 0]) == nil)
    }

    @Test("are read to the end, times and numbers of frames included", arguments: [0, 1])
    func longHeaders(flag: Int) {
        let zeros = String(repeating: "0", count: 32)
        // The profile and kind; times of 32 bits; a model with delays of 2 bits and times of 3; a point of operation with both;
        let start =
            "00000 1" + zeros + zeros + "0 1 00001" + zeros + "00000 00010" + "0 00000 000000000000 00000 1 11111"
        // 8 x 8 pixels; numbers of 5 bits; tools, an order of frames, tools for screens always, and vectors as each frame says.
        let sequence = Self.bytes(start + "0011 0011 0111 0111" + "1 0001 001" + "0000000 1 00 0 1 1 1")
        // A frame that is shown at some time, with whole vectors and a number.
        let frame = Self.bytes("0 00 1 111 0 1 11111 \(flag)")
        let units = [0x0A, UInt8(sequence.count)] + sequence + [0x32, UInt8(frame.count)] + frame
        #expect(Self.size(units) == (flag == 0 ? PixelSize(width: 8, height: 8) : nil))
    }

    @Test("are not believed where a unit goes beyond the end")
    func beyond() {
        #expect(Self.size(Self.film + [0x2A, 1, 0]) == Self.size)
        for rest in [[0x2A, 2, 0], [0x2A, 0x80, 1, 0], [0x2A, 0x80], [0x2A], [0x2E]] as [[UInt8]] {
            #expect(Self.size(Self.film + rest) == nil)
        }
        #expect(Self.size(Array(Self.film.dropLast())) == nil)
    }

    @Test("are those of sequences only in a configuration, to whose last unit nothing can be added")
    func configuration() {
        let head: [UInt8] = [0x81, 0, 12, 0]
        #expect(Self.size(head, isConfiguration: true) == .zero)
        #expect(Self.size(head + Self.film + [0x2A, 1, 0], isConfiguration: true) == Self.size)
        for rest in [[0x2A, 2, 0], [0x28], [0x28, 0], [0x32, 2, 0x10, 0], [0]] as [[UInt8]] {
            #expect(Self.size(head + Self.film + rest, isConfiguration: true) == nil)
        }
        #expect(Self.size(head + [0x08] + Self.film.dropFirst(2), isConfiguration: true) == nil)
    }

    @Test("are not read without end", arguments: [64, 65])
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
