#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The options for storing and checking a download.
///
/// ```swift
/// var options = DownloadOptions()
/// options.keepsPartial = true            // a later download resumes where this one failed
/// try await client.download(Film(id: 7), to: path, options: options)
/// ```
public struct DownloadOptions: Sendable, Hashable {
    /// Whether the download may replace an existing file. It does so atomically, at the end. The default is `true`.
    ///
    /// A link is replaced, and not the file that it points to. A directory, a pipe, a device or a socket is never
    /// replaced: the download fails before anything is sent.
    public var replacesExisting = true
    /// Whether a failed download keeps the bytes it received, so that a later download to the same path can resume. The
    /// default is `false`.
    ///
    /// A later download resumes if it has the same endpoint, the same ``Endpoint/headers`` and the same account, and if
    /// the file on the server has not changed. The account is that of the signed-in user, even for an endpoint that
    /// needs no token. A credential that an interceptor or the endpoint puts in place of the token must be the same,
    /// too. If no user is signed in, or the client has no ``TokenManager``, the request must have the same credentials:
    /// cookies and sensitive header fields, including those of interceptors and ``NetworkConfig/headers``. If an
    /// interceptor changes the URL, it must change it in the same way.
    ///
    /// The bytes are kept in a hidden file in the same folder, `.martlet-download-` followed by a hexadecimal number,
    /// until a download to the path succeeds or ``NetworkClient/discardPartialDownload(to:)`` is called. Nothing is
    /// kept if parts of the file were received with different credentials, or from different URLs. Without a user,
    /// nothing is kept either once the app has emptied the client's jar or cache. Kept bytes are not flushed to the
    /// disk: after a power failure, only a `check` proves that they are intact.
    ///
    /// Other users of the system can neither read nor write the hidden file. A file that they could have written is not
    /// resumed, and one that belongs to another user of the system is neither used nor removed: the download starts
    /// from the beginning under another name, and keeps nothing. Nor is anything kept on file systems without locks
    /// (`flock`), such as some network shares.
    public var keepsPartial = false
    #if canImport(CryptoKit) || Encryption
        /// The digest to verify before the file is published. The default is `nil`.
        ///
        /// Available on Apple platforms; elsewhere with the trait `Encryption`.
        public var check: DigestCheck?
    #endif

    /// Creates the default options.
    public init() {}
}

/// A downloaded file.
public struct DownloadedFile: Sendable, Hashable {
    /// The path of the file.
    public let path: String
    /// The size of the file in bytes.
    public let size: Int64
    /// The number of bytes of the file that an earlier call received; 0 if this call received the whole file.
    public let resumedBytes: Int64

    package init(path: String, size: Int64, resumedBytes: Int64 = 0) {
        self.path = path
        self.size = size
        self.resumedBytes = resumedBytes
    }

    /// The location of the file.
    public var url: URL { URL(fileURLWithPath: path) }
}

extension NetworkResponse where Value == DownloadedFile {
    /// The path of the file.
    public var path: String { value.path }

    /// The size of the file in bytes.
    public var size: Int64 { value.size }
}

extension NetworkClient {
    /// Downloads the response of an endpoint to a file. The file appears at `path` only when it is complete.
    ///
    /// The body is written in chunks, so that memory use does not depend on its size. If the connection breaks,
    /// ``RetryPolicy`` decides on another attempt, which resumes where the last one stopped if the server supports it
    /// (`Range` and `If-Range`, RFC 9110, sections 13.1.5 and 14.2) and the file has not changed. A 401 is handled as
    /// in any other call: the client refreshes the token and sends the request again. ``NetworkConfig/timeout``
    /// restarts with each chunk.
    ///
    /// The request asks for an uncompressed file (`Accept-Encoding: identity`) unless the request already has the
    /// field. Interceptors see the response in ``RequestInterceptor/validate(_:for:)`` with an empty body.
    ///
    /// Unless its bytes are kept (``DownloadOptions/keepsPartial``), a download that fails or is cancelled leaves no
    /// file behind; once all bytes have arrived, cancellation has no effect. If the process is killed, Linux removes
    /// the unfinished file, which has no name. On other systems, on file systems without anonymous files, and while an
    /// existing file is being replaced, a killed process leaves a hidden file, which the next download to the same path
    /// removes (except on file systems without locks).
    ///
    /// If the session of the call ends, the download ends with the error of any other call of that session. The file of
    /// a call that needs no session does not appear either if its user has signed out or another one has signed in.
    ///
    /// The file is not flushed to the disk, which would take as long as writing it. If it must survive a power failure,
    /// call `fsync` on it.
    /// - Parameters:
    ///   - endpoint: The endpoint to download.
    ///   - path: The path of the new file. Its folder must exist.
    ///   - options: The options for storing and checking the file.
    ///   - monitor: Reports the progress of the download.
    ///   - progress: Called with the number of bytes that have arrived: in order, and at most ten times a second if
    ///     there is no `monitor`. All counts have been reported when the method returns.
    /// - Throws: ``NetworkError``; ``NetworkError/downloadFailed(_:_:)`` if the file cannot be written or fails its
    ///   check.
    @discardableResult
    public func download(
        _ endpoint: any Endpoint, to path: String, options: DownloadOptions = DownloadOptions(),
        monitor: TransferMonitor? = nil, progress: (@Sendable (TransferCount) -> Void)? = nil
    ) async throws(NetworkError) -> NetworkResponse<DownloadedFile> {
        guard let progress else { return try await download(endpoint, to: path, options, monitor) }
        let monitor = monitor ?? TransferMonitor()
        return try await monitor.reporting({ $0.receivedCount }, to: progress) { () throws(NetworkError) in
            try await download(endpoint, to: path, options, monitor)
        }
    }

    private func download(
        _ endpoint: any Endpoint, to path: String, _ options: DownloadOptions, _ monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<DownloadedFile> {
        // Opening the kept file suspends, and the token may change in the meantime.
        var call = pipeline.makeCall(endpoint, monitor: monitor)
        let user = call.start.owner.isBound ? nil : tokens.map(DownloadUser.init)
        call.dropToken()
        // Wait for the session first: the kept bytes belong to it.
        try await admit(&call)
        // The kept bytes belong to the user even if the endpoint needs no session.
        let owner = call.start.owner.isBound ? call.start.owner : tokens?.currentOwner ?? .unbound
        let timesEmptied = pipeline.responseStorage.timesEmptied
        let receiver: DownloadReceiver
        do {
            #if canImport(CryptoKit) || Encryption
                if let problem = options.check?.problem { throw problem }
            #endif
            let stored = await storedOwner(of: owner, ifNeededFor: options)
            receiver = try await DownloadReceiver(
                to: path, options, of: requestText(of: endpoint),
                for: PartialDownloadOwner(stored, in: pipeline.responseStorage, since: timesEmptied),
                by: user)
        } catch {
            monitor?.finish()
            let failure = ExchangeRunner.wrap(error, call: CallDescription(unsent: endpoint))
            pipeline.reportRefusal(failure)
            throw failure
        }
        call.receiver = receiver
        do throws(NetworkError) {
            let completed = try await perform(call)
            // Only now: an interceptor may have failed to process the response.
            try await publish(receiver, of: completed)
            return NetworkResponse(receiver.result, of: completed)
        } catch {
            await receiver.abandon()
            throw error
        }
    }

    /// The owner of the bytes that a download keeps. If the session of the call has ended, the call neither resumes kept
    /// bytes nor keeps any for a later call. A call that keeps none must not wait for the store.
    private func storedOwner(of owner: CallOwner, ifNeededFor options: DownloadOptions) async -> StoredOwner {
        options.keepsPartial ? (try? await storedOwner(of: owner)) ?? .unreadStore : .unreadStore
    }

    /// Publishes the file, and reports the outcome of the call to the observers.
    private func publish(_ receiver: DownloadReceiver, of completed: CompletedCall) async throws(NetworkError) {
        do {
            try await receiver.publish()
        } catch {
            let failure = ExchangeRunner.wrap(error, call: completed.call)
            completed.report?.finish(with: failure)
            throw failure
        }
        completed.finish()
    }

    /// Downloads the file at a path of the API: a GET with the token, if a user is signed in.
    ///
    /// ```swift
    /// let file = try await client.download("/films/7/file", to: "/films/7.mp4") { received in
    ///     bar.show(received.fraction ?? 0)
    /// }
    /// print(file.size)
    /// ```
    ///
    /// See ``download(_:to:options:monitor:progress:)-(Endpoint,String,_,_,_)``.
    @discardableResult
    public func download(
        _ path: RequestPath, to destination: String, options: DownloadOptions = DownloadOptions(),
        monitor: TransferMonitor? = nil, progress: (@Sendable (TransferCount) -> Void)? = nil
    ) async throws(NetworkError) -> NetworkResponse<DownloadedFile> {
        try await download(
            Call<NoContent>.get(path), to: destination, options: options, monitor: monitor, progress: progress)
    }

    /// Downloads the file at a path of the API. See
    /// ``download(_:to:options:monitor:progress:)-(RequestPath,String,_,_,_)``.
    @discardableResult
    public func download(
        _ path: RequestPath, to url: URL, options: DownloadOptions = DownloadOptions(),
        monitor: TransferMonitor? = nil, progress: (@Sendable (TransferCount) -> Void)? = nil
    ) async throws(NetworkError) -> NetworkResponse<DownloadedFile> {
        try await download(Call<NoContent>.get(path), to: url, options: options, monitor: monitor, progress: progress)
    }

    /// Downloads the response of an endpoint to a file. See
    /// ``download(_:to:options:monitor:progress:)-(Endpoint,String,_,_,_)``.
    @discardableResult
    public func download(
        _ endpoint: any Endpoint, to url: URL, options: DownloadOptions = DownloadOptions(),
        monitor: TransferMonitor? = nil, progress: (@Sendable (TransferCount) -> Void)? = nil
    ) async throws(NetworkError) -> NetworkResponse<DownloadedFile> {
        guard url.isFileURL else {
            monitor?.finish()
            let error = NetworkError.invalidRequest(
                CallDescription(unsent: endpoint),
                reason: "A download needs a file URL to write to; use URL(fileURLWithPath:).")
            pipeline.reportRefusal(error)
            throw error
        }
        return try await download(endpoint, to: url.path, options: options, monitor: monitor, progress: progress)
    }

    /// The endpoint and its header fields. A kept download resumes only with the same ones.
    private func requestText(of endpoint: any Endpoint) -> String {
        // A header field of the endpoint may select another representation with the same `Last-Modified` date.
        let fields = endpoint.headers.map { "\($0.name.canonicalName): \($0.value)" }.joined(separator: "\n")
        return
            "\(endpoint.method) \(baseURL.text) \(endpoint.path.text) \(endpoint.query.encoded) \(fields.shortFingerprint)"
    }

    /// Deletes the bytes that ``DownloadOptions/keepsPartial`` has kept for this path. A download in progress is not
    /// affected.
    public func discardPartialDownload(to path: String) async {
        // If the task is cancelled while the app is suspended, the kept bytes remain.
        try? await DownloadHold(on: BlockingQueue("martlet.download")).run { PartialDownload(path).discard() }
    }
}
