internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Writes the body of a response to a file, and resumes where an earlier attempt stopped.
///
/// An attempt that has been abandoned may still be running when the next one starts. Each attempt therefore has a
/// number, and all access to the file is serial: a step of an earlier attempt does nothing.
final class DownloadReceiver: ResponseReceiver {
    let outlivesCall = false
    private let partial: PartialDownload
    private let options: DownloadOptions
    private let owner: PartialDownloadOwner
    /// Identifies the request and the owner of its bytes. Only bytes with the same fingerprint are resumed.
    private let resumeFingerprint: String
    private let state: Locked<State>
    /// The user at the start of a call that needs no session; `nil` for any other call.
    private let user: DownloadUser?
    /// The owner of the response that is being received.
    private let responseOwner = Locked(CallOwner.unbound)
    /// Each access to the file runs here.
    private let queue: BlockingQueue
    private let hold: DownloadHold

    /// - Parameters:
    ///   - request: The endpoint and its header fields. Only bytes of the same request and owner are resumed.
    ///   - owner: The owner of the bytes that the download leaves behind.
    ///   - user: The user at the start of a call that needs no session.
    init(
        to path: String, _ options: DownloadOptions, of request: String, for owner: PartialDownloadOwner,
        by user: DownloadUser? = nil, steps: FileSteps = .unobserved, activity: SharedActivity? = .downloads,
        time: any TimeSource = .system
    ) async throws {
        let resumeFingerprint = owner.fingerprint(of: request)
        let partial = PartialDownload(path, steps: steps)
        let queue = BlockingQueue("martlet.download")
        let hold = DownloadHold(on: queue, activity: activity, time: time)
        self.queue = queue
        self.hold = hold
        self.partial = partial
        self.options = options
        self.resumeFingerprint = resumeFingerprint
        self.owner = owner
        self.user = user
        do {
            self.state = Locked(
                try await hold.run {
                    let state = try partial.openState(for: options, resumeFingerprint: resumeFingerprint)
                    hold.keep(state.file)
                    return state
                })
        } catch let problem as FileError {
            throw DownloadError.file(problem)
        }
    }

    var attempt: Int { state.withLock { $0.attempt } }

    var keptBytes: Int64 { state.withLock { $0.resumption == nil ? 0 : $0.written } }

    /// The downloaded file, after the call has succeeded.
    var result: DownloadedFile {
        state.withLock { state in
            DownloadedFile(path: partial.destination.path, size: state.written, resumedBytes: state.resumedBytes)
        }
    }

    /// Releases the file after the call has failed, and deletes what cannot be resumed.
    func abandon() async {
        state.withLock { $0.attempt += 1 }
        await queue.run {
            self.releaseFile()
            self.hold.end()
        }
    }

    /// Blocks, because releasing the last reference may delete a large file.
    private func releaseFile() {
        let (file, mustRemove) = state.withLock { state in
            defer { state.file = nil }
            let isResumable =
                state.written > 0 && state.resumption != nil && !state.hasMixedCredentials && owner.mayKeepBytes
            return (state.file, state.keepsPartial && state.mayDeletePartial && !isResumable)
        }
        file?.abandon()
        // Hold the file's lock until the files are removed: another download may start as soon as it is released. If
        // the lock was given up and another download has taken the file since, the files belong to that download.
        if mustRemove, (try? hold.prepare()) != nil { withExtendedLifetime(file) { partial.remove() } }
    }

    // MARK: - Before an attempt

    func addFields(to request: inout HTTPRequest) {
        if request.headerFields[.acceptEncoding] == nil { request.headerFields[.acceptEncoding] = "identity" }
        #if canImport(CryptoKit) || Encryption
            if options.check?.asksServer == true {
                request.headerFields[.wantReprDigest] = "sha-512=10, sha-256=9"
            }
        #endif
        let endpointSetsRange = request.headerFields[.range] != nil
        let resumePoint = state.withLock { state in
            state.attempt += 1
            state.endpointSetsRange = endpointSetsRange
            let resumePoint = Self.resumePoint(for: request, state)
            state.requestedOffset = resumePoint?.offset
            return resumePoint
        }
        guard let resumePoint else { return }
        request.headerFields[.range] = "bytes=\(resumePoint.offset)-"
        request.headerFields[.ifRange] = resumePoint.validator
    }

    func checkCredentials(
        _ credentials: @autoclosure () -> [HTTPField], inPlaceOfToken: @autoclosure () -> [HTTPField],
        url: @autoclosure () -> String
    ) throws {
        guard options.keepsPartial else { return }
        // Without an account, nothing else tells two users apart. An entity tag is unique only among the versions of one
        // URL.
        let lines =
            (owner.isAnonymous ? credentials() : inPlaceOfToken())
            .map { "\($0.name.canonicalName): \($0.value)" }.sorted() + [url()]
        let fingerprint = String(lines.joined(separator: "\n").shortFingerprint, radix: 16)
        let isForeign = state.withLock { state in
            state.credentials = fingerprint
            state.mustRestart = state.resumedBytes > 0 && state.resumption?.credentials != fingerprint
            // Until the new download has begun, the kept bytes stay as they are.
            if state.mustRestart { (state.resumedBytes, state.mayDeletePartial) = (0, false) }
            return state.mustRestart
        }
        if isForeign { throw TransportError.invalidRequest("the kept bytes belong to other credentials") }
    }

    /// Decides whether an attempt resumes: it asks for the rest if the file has bytes that can be resumed, the method
    /// is GET (ranges are defined for no other method, RFC 9110, section 14.2), and the endpoint does not ask for a
    /// range itself.
    private static func resumePoint(
        for request: HTTPRequest, _ state: State
    ) -> (offset: Int64, validator: String)? {
        guard request.method == .get, !state.endpointSetsRange, state.written > 0, let resumption = state.resumption
        else {
            return nil
        }
        return (state.written, resumption.validator)
    }

    func accepts(_ head: HTTPResponse, for endpoint: any Endpoint) -> Bool {
        let askedForRest = state.withLock { $0.requestedOffset != nil }
        switch head.status.code {
        case 206 where askedForRest: return true
        case 416 where askedForRest:
            // The bytes in the file are not a part of the server's file (RFC 9110, section 15.5.17). Noted here, because
            // an interceptor may replace the failure.
            state.withLock { $0.mustRestart = true }
            return false
        // A 304 has no body, and the body of a redirect is not the file.
        case let code: return (200..<300).contains(code) && endpoint.acceptableStatuses.contains(code)
        }
    }

    func withdrawFields(after failure: NetworkError) -> Bool {
        state.withLock { state in
            guard state.mustRestart else { return false }
            state.mustRestart = false
            state.resumption = nil
            return true
        }
    }

    // MARK: - The response

    func receive(_ response: IncomingResponse) async throws {
        let attempt = response.attempt
        responseOwner.withLock { $0 = response.owner }
        do {
            let (start, total) = try await step(of: attempt) { try self.open(for: response.head) }
            let body = response.body.counted(from: start, of: total, response.progress)
            try await whileSessionLasts(response.owner) { try await self.write(body, of: attempt, total: total) }
        } catch let problem as FileError {
            throw DownloadError.file(problem)
        }
    }

    /// Cancels the work when the session of the call ends: the file must not replace that of the next user.
    /// - Throws: ``SessionError`` if the session has ended, and the errors of the work.
    private func whileSessionLasts(
        _ owner: CallOwner, _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        guard let tokens = self.owner.tokens, owner.session != nil else { return try await work() }
        let task = Task { try await work() }
        let stopWatching = tokens.onEnd(of: owner) { task.cancel() }
        defer { stopWatching() }
        do {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch {
            throw tokens.endError(for: owner) ?? error
        }
    }

    func finish(_ head: HTTPResponse) async throws {
        #if canImport(CryptoKit) || Encryption
            if options.check != nil { try await step(of: attempt) { try self.verify(head) } }
        #endif
    }

    /// Makes the file appear, once the call has succeeded. A cancellation during this method has no effect: a published
    /// file cannot be taken back.
    func publish() async throws {
        let owner = responseOwner.withLock { $0 }
        do {
            try await step(of: attempt) {
                // Checked last: the step may have waited for the file.
                if owner.session != nil, let error = self.owner.tokens?.endError(for: owner) { throw error }
                if self.user?.hasLeft == true { throw SessionError.sessionChanged }
                try self.publishFile()
                self.hold.end()
            }
        } catch let problem as FileError {
            throw DownloadError.file(problem)
        }
    }

    private func write(_ body: ByteStream, of attempt: Int, total: Int64?) async throws {
        let writer = WriteBehind(on: queue) { pieces in try self.ifCurrent(attempt) { try self.append(pieces) } }
        var failure: (any Error)?
        do {
            for try await piece in body { try await writer.add(piece) }
        } catch {
            failure = error
        }
        // Keep the bytes that arrived before the connection broke.
        let written = try await writer.finish()
        // A connection that breaks after the last byte does not matter.
        if let failure, total != written { throw failure }
        guard total ?? written == written else {
            throw TransportError.connectionLost("the response ended after \(written) of \(total ?? 0) bytes")
        }
    }

    /// Accesses the file, if the attempt is still the current one.
    @discardableResult
    private func step<Result: Sendable>(
        of attempt: Int, _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await hold.run(after: { try self.ifCurrent(attempt) {} }, work)
    }

    private func ifCurrent<Result>(_ attempt: Int, _ work: () throws -> Result) throws -> Result {
        guard state.withLock({ $0.attempt == attempt }) else { throw CancellationError() }
        return try work()
    }

    /// - Returns: The number of bytes in the file afterwards.
    @discardableResult
    private func append(_ pieces: [Data]) throws -> Int64 {
        let before = state.withLock { $0 }
        guard let file = before.file else { throw CancellationError() }
        do {
            try hold.prepare()
        } catch is DownloadHold.Suspending {
            // The next attempt asks for the rest, after the app has resumed.
            throw TransportError.connectionLost("the app was about to be suspended")
        }
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
            // A later attempt has requested the bytes from `before.written` on, and will write these again.
            guard state.attempt == before.attempt else { throw CancellationError() }
            state = result
            return result.written
        }
    }

    /// Prepares the file for a response.
    /// - Returns: The number of bytes to keep in the file, and its size when complete, if known.
    private func open(for head: HTTPResponse) throws -> (start: Int64, total: Int64?) {
        let before = state.withLock { $0 }
        guard let file = before.file else { throw CancellationError() }
        if head.status.code == 206, let offset = before.requestedOffset {
            guard let resumption = before.resumption, head.continues(resumption, from: offset),
                // An abandoned attempt may have truncated the file since.
                before.written == offset, try file.size() >= offset
            else {
                state.withLock { if $0.attempt == before.attempt { $0.mustRestart = true } }
                throw TransportError.invalidResponse("the partial response does not continue the file")
            }
            if before.keepsPartial, before.credentials != resumption.credentials {
                state.withLock { $0.hasMixedCredentials = true }
                partial.removeResumeData()
            }
            return (offset, resumption.total)
        }
        guard head.status.code != 206 || before.endpointSetsRange else {
            throw TransportError.invalidResponse("a partial response to a request for the whole file")
        }
        guard head.status.code != 204, head.status.code != 205 else { throw DownloadError.noContent }
        try file.truncate(to: 0)
        let resumption =
            head.status.code == 200
            ? PartialDownload.ResumeData(
                head, resumeFingerprint: resumeFingerprint, credentials: before.credentials) : nil
        if before.keepsPartial {
            partial.removeResumeData()
            if let resumption { try partial.write(resumption) }
        }
        guard startOver(resumption, attempt: before.attempt) else {
            // The call has ended and must leave nothing behind. The file's lock is still held, so the resume data is
            // this call's.
            if before.keepsPartial { partial.removeResumeData() }
            throw CancellationError()
        }
        return (0, head.contentLength)
    }

    /// Counts from the beginning of the file again, unless a later attempt has begun.
    private func startOver(_ resumption: PartialDownload.ResumeData?, attempt: Int) -> Bool {
        state.withLock { state in
            guard state.attempt == attempt else { return false }
            state.written = 0
            state.resumedBytes = 0
            state.mayDeletePartial = true
            state.hasMixedCredentials = false
            state.resumption = resumption
            #if canImport(CryptoKit) || Encryption
                state.digest = options.check.map(RunningDigest.init)
            #endif
            return true
        }
    }

    #if canImport(CryptoKit) || Encryption
        /// Verifies the complete file.
        private func verify(_ head: HTTPResponse) throws(DownloadError) {
            do throws(DownloadError) {
                let before = state.withLock { $0 }
                // If the endpoint itself asks for a range, the server's digest is still that of the whole file (RFC
                // 9530, section 3).
                let isEndpointRange = head.status.code == 206 && before.requestedOffset == nil
                let announced = isEndpointRange ? nil : head.reprDigest ?? before.resumption?.reprDigest
                if let digest = before.digest { try options.check?.verify(digest, announced: announced) }
            } catch {
                // Never keep bytes that failed the check.
                state.withLock { state in
                    state.resumption = nil
                    state.mayDeletePartial = true
                }
                throw error
            }
        }
    #endif

    /// Publishes the complete file at its path.
    private func publishFile() throws {
        let before = state.withLock { $0 }
        guard let file = before.file else { throw CancellationError() }
        try file.publish(replacing: options.replacesExisting)
        if before.keepsPartial { partial.removeResumeData() } else { partial.removeUnlessInUse() }
        state.withLock { $0.file = nil }
    }
}
