import NIOCore

/// An incremental parser of `multipart/form-data` (RFC 7578, RFC 2046 section 5.1): fed with a body in pieces of any
/// size, it hands out parts as they come, holding back no more than one delimiter's length of content.
struct MultipartParser {
    enum Event: Equatable {
        case partBegan(MultipartHeaders)
        case content(ByteBuffer)
        case partEnded
    }

    enum Failure: Error, Equatable {
        case headersTooLong
        case malformedHeaders
        case tooManyParts
        case truncated
    }

    private enum State {
        case preamble
        case headers
        case content
        case epilogue
    }

    static let maxHeaderBytes = 16 << 10
    static let maxParts = 1000

    private let delimiter: [UInt8]
    private var state = State.preamble
    private var partCount = 0
    // The first boundary may open the body without a line break before it, so one is put there.
    private var buffer = ByteBuffer(string: "\r\n")

    init(boundary: String) {
        delimiter = Array("\r\n--\(boundary)".utf8)
    }

    /// Takes the next piece of the body and returns what it completes.
    mutating func feed(_ piece: ByteBuffer) throws -> [Event] {
        var piece = piece
        buffer.writeBuffer(&piece)
        var events: [Event] = []
        while try advance(&events) {}
        buffer.discardReadBytes()
        return events
    }

    /// Says that the body is over.
    func finish() throws {
        guard case .epilogue = state else { throw Failure.truncated }
    }

    /// Makes one step; false where more input is needed.
    private mutating func advance(_ events: inout [Event]) throws -> Bool {
        switch state {
        case .preamble, .content: try scanToDelimiter(&events)
        case .headers: try readHeaders(&events)
        case .epilogue: discardEpilogue()
        }
    }

    private mutating func discardEpilogue() -> Bool {
        buffer.clear()
        return false
    }

    private mutating func scanToDelimiter(_ events: inout [Event]) throws -> Bool {
        switch buffer.findDelimiter(delimiter) {
        case .none(let safeBytes):
            emit(safeBytes, &events)
            return false
        case .undecided(let offset):
            emit(offset, &events)
            return false
        case .part(let offset, let length):
            emit(offset, &events)
            endPart(&events)
            buffer.moveReaderIndex(forwardBy: length)
            partCount += 1
            if partCount > Self.maxParts { throw Failure.tooManyParts }
            state = .headers
            return true
        case .close(let offset, let length):
            emit(offset, &events)
            endPart(&events)
            buffer.moveReaderIndex(forwardBy: length)
            state = .epilogue
            return true
        }
    }

    private mutating func emit(_ count: Int, _ events: inout [Event]) {
        guard count > 0, let content = buffer.readSlice(length: count) else { return }
        if case .content = state { events.append(.content(content)) }
    }

    private func endPart(_ events: inout [Event]) {
        if case .content = state { events.append(.partEnded) }
    }

    private mutating func readHeaders(_ events: inout [Event]) throws -> Bool {
        // The delimiter's own line break stays in the buffer, so a part without any header is an empty line as well.
        guard let end = buffer.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8)) else {
            if buffer.readableBytes > Self.maxHeaderBytes { throw Failure.headersTooLong }
            return false
        }
        let length = end.upperBound - buffer.readerIndex
        if length > Self.maxHeaderBytes { throw Failure.headersTooLong }
        guard let text = buffer.readString(length: length), let headers = MultipartHeaders(text) else {
            throw Failure.malformedHeaders
        }
        state = .content
        events.append(.partBegan(headers))
        return true
    }
}
