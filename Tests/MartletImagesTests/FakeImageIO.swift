import Foundation

@testable import Martlet
@testable import MartletImages

/// Image I/O as its documentation describes it, with pictures of one colour and answers that a test chooses.
final class FakeImageIO: Sendable {
    struct State: Sendable {
        var opens = true
        var status = ImageIOStatus.complete
        /// By index; an image that is not here is complete.
        var imageStatus: [Int: ImageIOStatus] = [:]
        /// What the status of an image is once it was decoded.
        var statusAfterDrawing: ImageIOStatus?
        var primaryIndex = 0
        var properties: [Int: ImageIOProperties] = [0: ImageIOProperties(size: PixelSize(width: 40, height: 30))]
        /// What drawing gives; nothing for the picture in the size that was asked for.
        var drawn: DrawnImage??
        var writableTypes = ["public.jpeg", "public.png"]
        /// The file that is written, whatever it was to be of; nothing for a small one of the type.
        var written: Data??
        /// What was asked for that takes time.
        var calls: [String] = []
        /// The bitmaps that were to be written.
        var bitmaps: [Bitmap] = []
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
                write: { [self] bitmap, isOpaque, type, quality in
                    locked.withLock { state in
                        let quality = quality.map { "\($0)" } ?? "–"
                        state.calls.append("write \(bitmap.size) \(isOpaque ? "opaque " : "")\(type) \(quality)")
                        state.bitmaps.append(bitmap)
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
            draw: { [self] index, size in locked.withLock { $0.draw(index, size) } })
    }
}

extension FakeImageIO.State {
    fileprivate mutating func draw(_ index: Int, _ size: PixelSize) -> DrawnImage? {
        calls.append("draw \(index) \(size)")
        if let statusAfterDrawing { imageStatus[index] = statusAfterDrawing }
        if let drawn { return drawn }
        return DrawnImage(
            size: size, isOpaque: properties[index]?.hasAlpha != true,
            pixels: [UInt8](repeating: 255, count: size.count * 4))
    }
}
