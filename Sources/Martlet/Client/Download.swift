#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// How a download becomes a file.
///
/// ```swift
/// var options = DownloadOptions()
/// options.keepsPartial = true            // go on tomorrow where it broke off today
/// try await client.download(Film(id: 7), to: path, options: options)
/// ```
public struct DownloadOptions: Sendable, Hashable {
    /// Whether the file may take the place of one that is there; it does so in one step, at the end. Default yes.
    public var replacesExisting = true
    /// Whether what has come is kept when the download fails, so that the next one to the same place goes on with it, if it
    /// is of the same endpoint with the same ``Endpoint/headers``, for the same account. Default no: nothing is left behind.
    ///
    /// What is kept stands in a hidden file beside the place, `.martlet-download-` and a number, until a download to it
    /// succeeds or ``NetworkClient/discardPartialDownload(to:)-(String)`` is called. Nothing is kept where the file system has
    /// no locks (`flock`), as some network shares have none. It is not flushed to the disk: after a power failure only a
    /// `check` tells for sure that what was kept is what had come.
    public var keepsPartial = false
    #if canImport(CryptoKit) || Encryption
        /// What the file is checked against before it is put into its place. Default nothing.
        ///
        /// On Apple's platforms; elsewhere with the trait `Encryption`.
        public var check: DigestCheck?
    #endif

    /// The defaults.
    public init() {}
}

/// A file that has come.
public struct DownloadedFile: Sendable, Hashable {
    /// Where it is.
    public let path: String
    /// How many bytes it has.
    public let size: Int64
    /// How many of them had come before this call, by an earlier one that kept them.
    public let keptBytes: Int64

    /// A file that has come.
    public init(path: String, size: Int64, keptBytes: Int64 = 0) {
        self.path = path
        self.size = size
        self.keptBytes = keptBytes
    }

    /// Where it is.
    public var url: URL { URL(fileURLWithPath: path) }
}

extension NetworkClient {
    /// Downloads an endpoint's answer to a file, which is there whole or not at all.
    ///
    /// It comes in pieces, so that a file of any size takes the same small amount of memory. A connection that breaks is
    /// made again as ``RetryPolicy`` says, and the download goes on where it broke off if the server can do that
    /// (`Range` and `If-Range`, RFC 9110, sections 13.1.5 and 14.2) and the file is still the same. A 401 on the way is met like
    /// any other: the token is renewed and the request sent again. ``NetworkConfig/timeout`` starts anew with each piece.
    ///
    /// The file comes as it is, not compressed (`Accept-Encoding: identity`, unless the endpoint says otherwise).
    /// Interceptors see the answer's head in ``RequestInterceptor/validate(_:for:)``, with an empty body.
    ///
    /// If the download fails or is cancelled, which has no effect once all bytes have come, nothing is left behind. Nor is it
    /// on Linux if the process is killed, where the file has no name until it is whole, unless that happens in the moment in
    /// which it takes another file's place. In that moment, on other systems, and where the file system has no unnamed files,
    /// a killed process leaves a hidden file, which the next download to the same place clears away (not where the file
    /// system has no locks).
    ///
    /// The file is not flushed to the disk, which takes about as long as writing it: the system does that in its own time,
    /// and until then a power failure may cost it, or what it holds. Whoever must be sure calls `fsync` on it.
    /// - Parameters:
    ///   - endpoint: What to download.
    ///   - path: Where the file is to stand; its folder must be there.
    ///   - options: How it becomes a file.
    ///   - monitor: Is told how much has come.
    /// - Throws: ``NetworkError``; ``NetworkError/downloadFailed(_:_:)`` where it cannot be written or is not what it should be.
    @discardableResult
    public func download(
        _ endpoint: any Endpoint, to path: String, options: DownloadOptions = DownloadOptions(),
        monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> NetworkResponse<DownloadedFile> {
        let receiver: DownloadReceiver
        do {
            receiver = try await DownloadReceiver(of: source(endpoint), to: path, options)
        } catch {
            monitor?.finish()
            let call = FailedCall(method: endpoint.method.rawValue, url: Redaction.redact(endpoint.path), attempts: 0)
            throw AttemptRunner.wrap(error, call: call)
        }
        do throws(NetworkError) {
            let raw = try await perform(endpoint, accept: nil, monitor: monitor, receiver: receiver)
            return raw.with(receiver.result)
        } catch {
            await receiver.abandon()
            throw error
        }
    }

    /// Downloads an endpoint's answer to a file. See ``download(_:to:options:monitor:)-(_,String,_,_)``.
    @discardableResult
    public func download(
        _ endpoint: any Endpoint, to url: URL, options: DownloadOptions = DownloadOptions(),
        monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> NetworkResponse<DownloadedFile> {
        guard url.isFileURL else {
            monitor?.finish()
            throw .invalidRequest(
                FailedCall(method: endpoint.method.rawValue, url: Redaction.redact(endpoint.path), attempts: 0),
                RequestProblem("The URL of the place to download to is not a file's."))
        }
        return try await download(endpoint, to: url.path, options: options, monitor: monitor)
    }

    /// What a download is of, and for whom: nobody goes on with what somebody else has begun. It is written beside the place.
    private func source(_ endpoint: any Endpoint) async -> String {
        var reader = ""
        if endpoint.authentication != .none, case .signedIn(let session) = await tokens?.loadedState {
            reader = session.account.userID ?? "\(session.id)"
        }
        // What is made of a resource, and for whom, may hang on any field, and one date may belong to all that is made of it.
        let fields = endpoint.headers.map { "\($0.name.canonicalName): \($0.value)" }.joined(separator: "\n")
        let source =
            "\(endpoint.method) \(baseURL) \(endpoint.path) \(endpoint.query) \(fields.shortFingerprint) \(reader)"
        return String(source.fingerprint, radix: 16)
    }

    /// Deletes what ``DownloadOptions/keepsPartial`` has kept of a download to this place. One that is under way is not
    /// disturbed.
    public func discardPartialDownload(to path: String) async {
        _ = try? await FileQueue.run { PartialDownload(path).discard() }
    }

    /// Deletes what is kept of a download to this place. See ``discardPartialDownload(to:)-(String)``.
    public func discardPartialDownload(to url: URL) async {
        await discardPartialDownload(to: url.path)
    }
}
