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
        /// What drawing gives; nothing for the picture as it was asked for.
        var drawn: DrawnImage??
        var writableTypes = ["public.jpeg", "public.png"]
        /// The file that is written, whatever it was to be of; nothing for a small one of the type.
        var written: Data??
        /// What was asked for that takes time.
        var calls: [String] = []
        /// The layouts of the bitmaps that were to be written.
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
    /// Half transparent white where the picture has alpha, else white.
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
