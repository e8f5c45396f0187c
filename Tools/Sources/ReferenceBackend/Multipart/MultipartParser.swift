import NIOCore

/// An incremental parser for `multipart/form-data` (RFC 7578, RFC 2046 section 5.1).
///
/// It accepts pieces of any size, emits events as early as possible and buffers at most a delimiter's length of
/// content.
struct MultipartParser {
    /// A step of the body that has been parsed.
    enum Event: Equatable {
        case partBegan(MultipartHeaders)
        case content(ByteBuffer)
        case partEnded
    }

    /// The reason why a body is rejected.
    enum ParsingError: Error, Equatable {
        case headersTooLong
        case malformedHeaders
        case tooManyParts
        case truncated
    }

    /// The section of the body that is being parsed.
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
    // The first boundary may start the body without a line break, so one is prepended.
    private var buffer = ByteBuffer(string: "\r\n")

    init(boundary: String) {
        delimiter = Array("\r\n--\(boundary)".utf8)
    }

    /// Parses the next piece of the body and returns the completed events.
    mutating func feed(_ piece: ByteBuffer) throws -> [Event] {
        var piece = piece
        buffer.writeBuffer(&piece)
        var events: [Event] = []
        while try advance(&events) {}
        buffer.discardReadBytes()
        return events
    }

    /// Ends the parsing. Throws if the body is incomplete.
    func finish() throws {
        guard case .epilogue = state else { throw ParsingError.truncated }
    }

    /// Makes one step. Returns `false` if more input is needed.
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
            if partCount > Self.maxParts { throw ParsingError.tooManyParts }
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
        // The delimiter's line break is still in the buffer, so a part without headers starts with an empty line too.
        guard let end = buffer.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8)) else {
            if buffer.readableBytes > Self.maxHeaderBytes { throw ParsingError.headersTooLong }
            return false
        }
        let length = end.upperBound - buffer.readerIndex
        if length > Self.maxHeaderBytes { throw ParsingError.headersTooLong }
        guard let text = buffer.readString(length: length), let headers = MultipartHeaders(text) else {
            throw ParsingError.malformedHeaders
        }
        state = .content
        events.append(.partBegan(headers))
        return true
    }
}
