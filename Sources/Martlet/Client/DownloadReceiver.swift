internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Writes the body of an answer into a file, and goes on with it where an earlier attempt broke off.
final class DownloadReceiver: AnswerReceiver {
    /// How many bytes are gathered before they are written: enough that the hop to another thread costs little.
    private static let gatheredSize = 512 * 1024

    private struct State {
        var file: IncomingFile?
        /// How many bytes the file has.
        var written: Int64 = 0
        /// With what the server can be asked for the rest; `nil` where it has to begin anew.
        var resumption: Resumption?
        /// From where the attempt under way asked the server to go on.
        var askedFrom: Int64?
        /// The rest that came is not that of these bytes.
        var isToStartOver = false
        var keptBytes: Int64 = 0
        /// What comes is kept if the call fails.
        var keeps = false
        /// The call has returned: whoever still writes has nothing to write to.
        var isAbandoned = false
        #if canImport(CryptoKit) || Encryption
            var digest: RunningDigest?
        #endif
    }

    private struct Resumption: Hashable {
        let validator: String
        let total: Int64
    }

    let outlivesCall = false
    private let partial: PartialDownload
    private let options: DownloadOptions
    private let source: String
    private let state = Locked(State())

    private var place: IncomingFile.Place { partial.place }

    init(
        _ endpoint: any Endpoint, of baseURL: BaseURL, to path: String, _ options: DownloadOptions
    ) async throws {
        self.partial = PartialDownload(path)
        self.options = options
        self.source = RefreshJournal.fingerprint(
            of: Secret("\(endpoint.method) \(baseURL) \(endpoint.path) \(endpoint.query)"))
        let state = try await FileQueue.run { [partial, source] in
            try Self.begin(partial, options, source: source)
        }
        self.state.withLock { $0 = state }
    }

    /// What has come, once the call has succeeded.
    var result: DownloadedFile {
        state.withLock { DownloadedFile(path: place.path, size: $0.written, keptBytes: $0.keptBytes) }
    }

    /// The call has failed: what has a name only until the file is whole loses it now.
    func abandon() {
        let (file, isOfNoUse) = state.withLock { state in
            state.isAbandoned = true
            defer { state.file = nil }
            return (state.file, state.keeps && (state.resumption == nil || state.written == 0))
        }
        file?.abandon()
        if isOfNoUse { partial.remove() }
    }

    // MARK: - Before an attempt

    func adapt(_ request: inout HTTPRequest) {
        if request.headerFields[.acceptEncoding] == nil { request.headerFields[.acceptEncoding] = "identity" }
        #if canImport(CryptoKit) || Encryption
            if options.check?.asksServer == true {
                request.headerFields[.wantReprDigest] = "sha-512=10, sha-256=9"
            }
        #endif
        // Nobody knows what a range means for other methods (RFC 9110, section 14.2).
        let mayAsk = request.method == .get && request.headerFields[.range] == nil
        let asked = state.withLock { state -> (Int64, String)? in
            state.askedFrom = nil
            guard mayAsk, state.written > 0, let resumption = state.resumption else { return nil }
            state.askedFrom = state.written
            return (state.written, resumption.validator)
        }
        guard let (start, validator) = asked else { return }
        request.headerFields[.range] = "bytes=\(start)-"
        request.headerFields[.ifRange] = validator
    }

    func takes(_ head: HTTPResponse, to endpoint: any Endpoint) -> Bool {
        let asked = state.withLock { $0.askedFrom != nil }
        switch head.status.code {
        case 206 where asked: return true
        case 416 where asked: return false
        case let code: return endpoint.acceptableStatuses.contains(code)
        }
    }

    func startsOver(after failure: NetworkError) -> Bool {
        state.withLock { state in
            // What is there is not a part of what the server has now (RFC 9110, section 15.5.17).
            if state.askedFrom != nil, failure.answer?.status == 416 { state.isToStartOver = true }
            guard state.isToStartOver else { return false }
            state.isToStartOver = false
            state.resumption = nil
            return true
        }
    }

    // MARK: - The answer

    func receive(_ answer: IncomingAnswer) async throws {
        let start = try await FileQueue.run { try self.open(for: answer.head) }
        let total = state.withLock { $0.resumption?.total } ?? answer.head.contentLength.map { $0 + start }
        let body = answer.body.counted(from: start, of: total) { count in
            answer.headway.made()
            answer.monitor?.receive(count)
        }
        do {
            try await write(body)
        } catch let error as FileProblem {
            throw DownloadFailure.file(error)
        }
        let written = state.withLock { $0.written }
        guard total ?? written == written else {
            throw TransportError.connectionLost("it ended after \(written) of \(total ?? 0) bytes")
        }
        try await FileQueue.run { try self.finish(answer.head) }
    }

    private func write(_ body: ByteStream) async throws {
        var gathered: [Data] = []
        var count = 0
        do {
            for try await piece in body {
                gathered.append(piece)
                count += piece.count
                guard count >= Self.gatheredSize else { continue }
                let full = gathered
                (gathered, count) = ([], 0)
                try await FileQueue.run { try self.append(full) }
            }
        } catch let error where !(error is FileProblem) {
            // What has come before the connection broke need not come again.
            let rest = gathered
            try await FileQueue.run { try self.append(rest) }
            throw error
        }
        let rest = gathered
        try await FileQueue.run { try self.append(rest) }
    }

    private func append(_ pieces: [Data]) throws {
        let (file, position) = state.withLock { ($0.file, $0.written) }
        guard let file else { throw CancellationError() }
        var end = position
        for piece in pieces {
            try file.write(piece, at: end)
            end += Int64(piece.count)
        }
        state.withLock { state in
            state.written = end
            #if canImport(CryptoKit) || Encryption
                for piece in pieces { state.digest?.update(piece) }
            #endif
        }
    }

    /// Makes the file ready for an answer.
    /// - Returns: How many bytes it has already.
    private func open(for head: HTTPResponse) throws -> Int64 {
        let (asked, resumption, written) = state.withLock { ($0.askedFrom, $0.resumption, $0.written) }
        if head.status.code == 206, let asked {
            let range = head.headerFields[.contentRange].flatMap(ContentRange.init)
            guard let range, range.bounds?.lowerBound == asked, range.total ?? resumption?.total == resumption?.total
            else {
                state.withLock { $0.isToStartOver = true }
                throw TransportError.invalidResponse("it goes on elsewhere than it was asked to")
            }
            return written
        }
        let file = try state.withLock { $0.file } ?? IncomingFile.make(for: place)
        try file.truncate(to: 0)
        let next = self.resumption(from: head)
        if state.withLock({ $0.keeps }) {
            partial.removeNotes()
            if let next {
                try partial.write(.init(source: source, validator: next.validator, total: next.total))
            }
        }
        return try state.withLock { state in
            guard !state.isAbandoned else { throw CancellationError() }
            state.file = file
            state.written = 0
            state.keptBytes = 0
            state.resumption = next
            #if canImport(CryptoKit) || Encryption
                state.digest = options.check.map(RunningDigest.init)
            #endif
            return 0
        }
    }

    /// The rest can be asked for later where the server says how much there is, and by what it can be known again: an entity
    /// tag that is strong, or a date that is old enough to be (RFC 9110, sections 8.8.2.2 and 13.1.5).
    private func resumption(from head: HTTPResponse) -> Resumption? {
        guard head.status.code == 200, let total = head.contentLength, head.headerFields[.acceptRanges] != "none",
            head.headerFields[.contentEncoding] == nil
        else { return nil }
        if let tag = head.headerFields[.eTag] {
            return tag.hasPrefix("\"") ? Resumption(validator: tag, total: total) : nil
        }
        guard let text = head.headerFields[.lastModified], let changed = HTTPDate.parse(text),
            let now = head.headerFields[.date].flatMap(HTTPDate.parse), now.timeIntervalSince(changed) >= 1
        else { return nil }
        return Resumption(validator: text, total: total)
    }

    /// The file is whole: checked, then put into its place.
    private func finish(_ head: HTTPResponse) throws {
        guard let file = state.withLock({ $0.file }) else { throw CancellationError() }
        #if canImport(CryptoKit) || Encryption
            do throws(DownloadFailure) {
                try options.check?.verify(state.withLock { $0.digest }, head)
            } catch {
                // Bytes that are wrong are not kept, whatever is kept otherwise.
                state.withLock { $0.resumption = nil }
                throw error
            }
        #endif
        do throws(FileProblem) {
            try file.publish(replacing: options.replacesExisting)
        } catch {
            throw DownloadFailure.file(error)
        }
        let keeps = state.withLock { state in
            state.file = nil
            return state.keeps
        }
        if keeps { partial.removeNotes() }
    }

    // MARK: - The beginning

    private static func begin(
        _ partial: PartialDownload, _ options: DownloadOptions, source: String
    ) throws -> State {
        let place = partial.place
        var state = State()
        do throws(FileProblem) {
            if !options.replacesExisting, FileManager.default.fileExists(atPath: place.path) {
                throw FileProblem(.exists, path: place.path)
            }
            guard options.keepsPartial, let file = try IncomingFile.keptPartial(for: place) else {
                // Made now, so that a folder that is not there is told before anything is asked of the server.
                state.file = try IncomingFile.make(for: place)
                #if canImport(CryptoKit) || Encryption
                    state.digest = options.check.map(RunningDigest.init)
                #endif
                return state
            }
            state.file = file
            state.keeps = true
            guard let notes = partial.notes(), notes.source == source else { return state }
            let size = try file.size()
            guard size > 0, size < notes.total else { return state }
            state.written = size
            state.keptBytes = size
            state.resumption = Resumption(validator: notes.validator, total: notes.total)
            #if canImport(CryptoKit) || Encryption
                if let check = options.check { state.digest = try RunningDigest(for: check, of: file) }
            #endif
        } catch {
            throw DownloadFailure.file(error)
        }
        return state
    }
}

extension HTTPResponse {
    /// What `Content-Length` says, where it says something sensible.
    fileprivate var contentLength: Int64? {
        headerFields[.contentLength].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
