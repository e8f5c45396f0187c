internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Writes the body of an answer into a file, and goes on with it where an earlier attempt broke off.
///
/// An attempt that is given up is not waited for and may still be at it when the next one begins. So each has a number, and
/// what is done to the file is done one step after the other: a step of an attempt that is over does nothing.
final class DownloadReceiver: AnswerReceiver {
    struct State {
        /// The number of the attempt under way.
        var attempt = 0
        var file: IncomingFile?
        /// How many bytes the file has.
        var written: Int64 = 0
        /// With what the server can be asked for the rest; `nil` where it has to begin anew.
        var resumption: PartialDownload.Notes?
        /// From where the attempt under way asked the server to go on.
        var askedFrom: Int64?
        /// The endpoint itself asks for a part.
        var hasOwnRange = false
        /// The rest that came is not that of these bytes.
        var isToStartOver = false
        var keptBytes: Int64 = 0
        /// What comes is kept if the call fails.
        var keeps = false
        /// What is kept is this call's.
        var isOwn = false
        #if canImport(CryptoKit) || Encryption
            var digest: RunningDigest?
        #endif
    }

    let outlivesCall = false
    private let partial: PartialDownload
    private let options: DownloadOptions
    private let source: String
    private let state: Locked<State>
    /// Held while something is done to the file, never on a cooperative thread.
    private let steps = Locked(())

    /// - Parameter source: What the bytes are of: those of another source are never gone on with.
    init(of source: String, to path: String, _ options: DownloadOptions) async throws {
        let partial = PartialDownload(path)
        self.partial = partial
        self.options = options
        self.source = source
        do {
            self.state = Locked(try await FileQueue.run { try partial.begin(options, source: source) })
        } catch let problem as FileProblem {
            throw DownloadFailure.file(problem)
        }
    }

    var attempt: Int { state.withLock { $0.attempt } }

    /// What has come, once the call has succeeded.
    var result: DownloadedFile {
        state.withLock { DownloadedFile(path: partial.place.path, size: $0.written, keptBytes: $0.keptBytes) }
    }

    /// The call has failed: what has a name only until the file is whole loses it now.
    func abandon() async {
        state.withLock { $0.attempt += 1 }
        _ = try? await FileQueue.run { self.letGo() }
    }

    /// Blocks: the bytes of a large file go with its last reference.
    private func letGo() {
        let (file, isOfNoUse) = state.withLock { state in
            defer { state.file = nil }
            let isOfUse = state.written > 0 && state.resumption != nil
            return (state.file, state.keeps && state.isOwn && !isOfUse)
        }
        file?.abandon()
        // While the file is still held, or somebody else could have it already.
        if isOfNoUse { withExtendedLifetime(file) { partial.remove() } }
    }

    // MARK: - Before an attempt

    func adapt(_ request: inout HTTPRequest) {
        if request.headerFields[.acceptEncoding] == nil { request.headerFields[.acceptEncoding] = "identity" }
        #if canImport(CryptoKit) || Encryption
            if options.check?.asksServer == true {
                request.headerFields[.wantReprDigest] = "sha-512=10, sha-256=9"
            }
        #endif
        let hasOwnRange = request.headerFields[.range] != nil
        // Nobody knows what a range means for other methods (RFC 9110, section 14.2).
        let mayAsk = request.method == .get && !hasOwnRange
        let asked = state.withLock { state -> (Int64, String)? in
            state.attempt += 1
            state.hasOwnRange = hasOwnRange
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
        // A 304 has no body, and that of a redirect is not what was asked for.
        case let code: return (200..<300).contains(code) && endpoint.acceptableStatuses.contains(code)
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
        let attempt = answer.attempt
        do {
            let (start, total) = try await step(of: attempt) { try self.open(for: answer.head) }
            try await write(answer.body.counted(from: start, of: total, answer.progress), of: attempt, total: total)
        } catch let problem as FileProblem {
            throw DownloadFailure.file(problem)
        }
    }

    /// Who cancels once this has begun comes too late: what stands in its place cannot be taken back.
    func finish(_ head: HTTPResponse) async throws {
        do {
            try await step(of: attempt) { try self.publish(head) }
        } catch let problem as FileProblem {
            throw DownloadFailure.file(problem)
        }
    }

    private func write(_ body: ByteStream, of attempt: Int, total: Int64?) async throws {
        let writer = WriteBehind { pieces in try self.ifCurrent(attempt) { try self.append(pieces) } }
        var broken: (any Error)?
        do {
            for try await piece in body { try await writer.add(piece) }
        } catch {
            broken = error
        }
        // What has come before the connection broke need not come again.
        let written = try await writer.finish()
        // A connection that breaks after the last byte has done all that it was for.
        if let broken, total != written { throw broken }
        guard total ?? written == written else {
            throw TransportError.connectionLost("it ended after \(written) of \(total ?? 0) bytes")
        }
    }

    /// Does something to the file where it must not disturb anybody, if the attempt is not over.
    @discardableResult
    private func step<Result: Sendable>(
        of attempt: Int, _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await FileQueue.run { try self.ifCurrent(attempt, work) }
    }

    private func ifCurrent<Result>(_ attempt: Int, _ work: () throws -> Result) throws -> Result {
        try steps.withLock { _ in
            guard state.withLock({ $0.attempt == attempt }) else { throw CancellationError() }
            return try work()
        }
    }

    /// - Returns: How many bytes the file has then.
    @discardableResult
    private func append(_ pieces: [Data]) throws -> Int64 {
        let before = state.withLock { $0 }
        guard let file = before.file else { throw CancellationError() }
        var after = before
        for piece in pieces {
            try file.write(piece, at: after.written)
            after.written += Int64(piece.count)
            #if canImport(CryptoKit) || Encryption
                after.digest?.update(piece)
            #endif
        }
        let result = after
        return try state.withLock { state in
            // The next attempt has asked for what comes after `before`: these bytes will come again.
            guard state.attempt == before.attempt else { throw CancellationError() }
            state = result
            return result.written
        }
    }

    /// Makes the file ready for an answer.
    /// - Returns: How many bytes it has already, and how many it will have, where that is known.
    private func open(for head: HTTPResponse) throws -> (start: Int64, total: Int64?) {
        let before = state.withLock { $0 }
        guard let file = before.file else { throw CancellationError() }
        if head.status.code == 206, let asked = before.askedFrom {
            guard let resumption = before.resumption, head.goesOn(with: resumption, from: asked),
                // An attempt that was given up may have begun the file anew since.
                before.written == asked, try file.size() >= asked
            else {
                state.withLock { $0.isToStartOver = true }
                throw TransportError.invalidResponse("it goes on elsewhere than it was asked to, or with another file")
            }
            return (asked, resumption.total)
        }
        guard head.status.code != 206 || before.hasOwnRange else {
            throw TransportError.invalidResponse("it is a part of the file, and nobody asked for a part")
        }
        guard head.status.code != 204, head.status.code != 205 else { throw DownloadFailure.noContent }
        try file.truncate(to: 0)
        let resumption = head.status.code == 200 ? PartialDownload.Notes(head, source: source) : nil
        if before.keeps {
            partial.removeNotes()
            if let resumption { try partial.write(resumption) }
        }
        let isCurrent = state.withLock { state in
            guard state.attempt == before.attempt else { return false }
            state.written = 0
            state.keptBytes = 0
            state.isOwn = true
            state.resumption = resumption
            #if canImport(CryptoKit) || Encryption
                state.digest = options.check.map(RunningDigest.init)
            #endif
            return true
        }
        guard isCurrent else {
            // Nothing is left of a call that is over; the file is still held, so that these are nobody else's.
            if before.keeps { partial.removeNotes() }
            throw CancellationError()
        }
        return (0, head.contentLength)
    }

    /// The file is whole: checked, then put into its place.
    private func publish(_ head: HTTPResponse) throws {
        let before = state.withLock { $0 }
        guard let file = before.file else { throw CancellationError() }
        #if canImport(CryptoKit) || Encryption
            do throws(DownloadFailure) {
                // Of a part that the endpoint itself asks for, the server says the digest of all (RFC 9530, section 3).
                let isOwnPart = head.status.code == 206 && before.askedFrom == nil
                let said = isOwnPart ? nil : head.reprDigest ?? before.resumption?.reprDigest
                if let digest = before.digest { try options.check?.verify(digest, said: said) }
            } catch {
                // Bytes that are wrong are not kept, whatever is kept otherwise.
                state.withLock { state in
                    state.resumption = nil
                    state.isOwn = true
                }
                throw error
            }
        #endif
        try file.publish(replacing: options.replacesExisting)
        if before.keeps { partial.removeNotes() } else { partial.removeUnlessInUse() }
        state.withLock { $0.file = nil }
    }
}
