import Foundation

@testable import Martlet
@testable import MartletImages

/// A fake Image I/O that follows Apple's documentation, with single-color pictures and results set by the test.
final class FakeImageIO: Sendable {
    /// The results of the fake, and the calls that it has received.
    struct State: Sendable {
        var opens = true
        var status = ImageIOStatus.complete
        /// By index. An image without an entry is complete.
        var imageStatus: [Int: ImageIOStatus] = [:]
        /// The status of an image after it was decoded.
        var statusAfterDrawing: ImageIOStatus?
        var primaryIndex = 0
        var properties: [Int: ImageIOProperties] = [0: ImageIOProperties(size: PixelSize(width: 40, height: 30))]
        /// The result of drawing; `nil` draws the requested picture.
        var drawn: DrawnImage??
        var writableTypes = ["public.jpeg", "public.png"]
        /// The written file, whatever was requested; `nil` writes a small file of the requested type.
        var written: Data??
        /// The expensive calls, in order.
        var calls: [String] = []
        /// The layouts of the bitmaps passed to `write`.
        var layouts: [Bitmap.Layout] = []
    }

    private let locked: Locked<State>

    init(_ change: (inout State) -> Void = { _ in }) {
        var state = State()
        change(&state)
        locked = Locked(state)
    }

    var state: State {
        locked.withLock { $0 }
    }

    var codec: ImageIOCodec {
        ImageIOCodec(
            calls: ImageIOCalls(
                open: { [self] _ in state.opens ? source : nil },
                writableTypes: { [self] in state.writableTypes },
                write: { [self] bitmap, type, quality in
                    locked.withLock { state in
                        let quality = quality.map { "\($0)" } ?? "–"
                        state.calls.append("write \(bitmap.size) \(type) \(quality)")
                        state.layouts.append(bitmap.layout)
                        let files = ["public.jpeg": FileEndTests.jpeg, "public.png": FileEndTests.png]
                        return state.written ?? Data(files[type] ?? FileEndTests.webP)
                    }
                }))
    }

    private var source: ImageIOSource {
        ImageIOSource(
            count: { [self] in state.properties.count },
            primaryIndex: { [self] in state.primaryIndex },
            status: { [self] in state.status },
            imageStatus: { [self] index in state.imageStatus[index] ?? .complete },
            properties: { [self] index in state.properties[index] },
            draw: { [self] index, longestSide in locked.withLock { $0.draw(index, longestSide) } })
    }
}

extension FakeImageIO.State {
    /// Draws half-transparent white if the picture has alpha, otherwise opaque white.
    fileprivate mutating func draw(_ index: Int, _ longestSide: Int) -> DrawnImage? {
        calls.append("draw \(index) in \(longestSide)")
        if let statusAfterDrawing { imageStatus[index] = statusAfterDrawing }
        if let drawn { return drawn }
        guard let stored = properties[index] else { return nil }
        let size = stored.size.fitted(in: PixelSize(width: longestSide, height: longestSide))
        return DrawnImage(
            size: size, pixels: [UInt8](repeating: stored.hasAlpha ? 128 : 255, count: size.count * 4))
    }
}
