#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One pass over the parts of a form. Small content is collected into one chunk; large content is sent as it is read.
struct MultipartPass {
    /// Chunks larger than this are sent without copying.
    private static let smallSize = 16 * 1024
    private static let chunkSize = FileChunks.standardChunkSize

    private let parts: [MultipartPart]
    private let closing: Data
    private var index = 0
    private var isFinished = false
    /// Collected bytes, fewer than a chunk.
    private var gathered = Data()
    /// A large chunk to send after `gathered`.
    private var waiting: Data?
    private var reading: Reading?

    /// The content that is being read.
    private enum Reading {
        case bytes(Data)
        case file(FileChunks.AsyncIterator)
        case stream(ByteStream.AsyncIterator)
    }

    init(parts: [MultipartPart], closing: Data) {
        self.parts = parts
        self.closing = closing
    }

    mutating func next() async throws -> Data? {
        do {
            return try await advance()
        } catch {
            // A form that continued after an error would be malformed.
            isFinished = true
            (gathered, waiting, reading) = (Data(), nil, nil)
            throw error
        }
    }

    private mutating func advance() async throws -> Data? {
        if let chunk = waiting {
            waiting = nil
            return chunk
        }
        while !isFinished {
            if reading != nil {
                guard let chunk = try await nextOfContent() else {
                    reading = nil
                    gathered.append(MultipartPart.end)
                    continue
                }
                if chunk.count > Self.smallSize {
                    guard !gathered.isEmpty else { return chunk }
                    waiting = chunk
                    return takeGathered()
                }
                gathered.append(chunk)
                // A live stream may pause before its next chunk, so send at once what it has yielded.
                if case .stream = reading, !chunk.isEmpty { return takeGathered() }
            } else if index < parts.count {
                try begin(parts[index])
                index += 1
            } else {
                gathered.append(closing)
                isFinished = true
                return takeGathered()
            }
            if gathered.count >= Self.chunkSize { return takeGathered() }
        }
        return nil
    }

    @inline(never)
    private mutating func begin(_ part: MultipartPart) throws {
        gathered.append(part.head)
        reading =
            switch part.content {
            case .bytes(let data): .bytes(data)
            case .file(let path): .file(FileChunks(path: path).makeAsyncIterator())
            case .measuredFile(let path, let size): .file(FileChunks(path: path, size: size).makeAsyncIterator())
            case .stream(let length, _, let open):
                .stream(try open().exactly(length, of: part.description).makeAsyncIterator())
            }
    }

    private mutating func nextOfContent() async throws -> Data? {
        switch reading {
        case nil: return nil
        case .bytes(let rest):
            guard !rest.isEmpty else { return nil }
            // The chunks share the memory of the data. They allow the transport to apply back-pressure and to count.
            reading = .bytes(rest.dropFirst(Self.chunkSize))
            return rest.prefix(Self.chunkSize)
        case .file(var chunks):
            let chunk = try await chunks.next()
            reading = .file(chunks)
            return chunk
        case .stream(let chunks):
            return try await chunks.next()
        }
    }

    private mutating func takeGathered() -> Data {
        defer { gathered = Data() }
        return gathered
    }
}
