internal import HTTPTypes
internal import MartletLibc

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The kept bytes of a failed download, and the resume data that a later call needs. Every method blocks.
///
/// - ``ResumeData/init(_:resumeFingerprint:credentials:)`` decides whether a response can be resumed later;
/// - ``openState(for:resumeFingerprint:)`` decides whether a new call starts from kept bytes;
/// - ``DownloadReceiver/checkCredentials(_:inPlaceOfToken:url:)`` decides whether kept bytes belong to the credentials
///   of the request;
/// - `DownloadReceiver.resumePoint(for:_:)` decides whether an attempt asks for the rest;
/// - ``HTTPResponse/continues(_:from:)`` decides whether the server's response is that rest.
struct PartialDownload: Sendable {
    let destination: IncomingFile.Destination
    private let steps: FileSteps
    /// The user that all files must belong to. Files of other users are not read, changed or removed.
    private let user: uid_t

    /// The data that identifies the complete file on the server.
    struct ResumeData: Codable, Hashable {
        /// Identifies the endpoint, its header fields and the account.
        let resumeFingerprint: String
        /// Identifies the credentials of the request; `nil` if the account alone identifies the owner of the bytes.
        let credentials: String?
        /// The value for `If-Range`.
        let validator: String
        let total: Int64
        /// The server's digest of the complete file.
        let reprDigest: String?

        /// - Returns: `nil` if the download cannot be resumed. It can if the response has a length, no content coding,
        ///   no `Accept-Ranges: none`, and a strong validator: a strong entity tag, or a modification date at least a
        ///   second before its `Date` (RFC 9110, sections 8.8.2.2 and 13.1.5). A date does not count if `Vary` names
        ///   fields other than `Accept-Encoding` and `Origin`, because the representations that they select may share a
        ///   date. The caller verifies that the status is 200.
        init?(_ head: HTTPResponse, resumeFingerprint: String, credentials: String? = nil) {
            guard let total = head.contentLength, head.headerFields[.acceptRanges] != "none",
                ContentCodings(head.headerFields).names.isEmpty
            else { return nil }
            self.resumeFingerprint = resumeFingerprint
            self.credentials = credentials
            self.total = total
            self.reprDigest = head.reprDigest
            if let tag = head.headerFields[.eTag] {
                guard tag.hasPrefix("\"") else { return nil }
                self.validator = tag
                return
            }
            let selecting = (head.headerFields[.vary] ?? "").lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
            guard selecting.allSatisfy({ $0 == "accept-encoding" || $0 == "origin" }),
                let text = head.headerFields[.lastModified], let changed = HTTPDate.parse(text),
                let now = head.headerFields[.date].flatMap(HTTPDate.parse), now.timeIntervalSince(changed) >= 1
            else { return nil }
            self.validator = text
        }
    }

    init(_ path: String, steps: FileSteps = .unobserved, user: uid_t = geteuid()) {
        destination = IncomingFile.Destination(path)
        self.steps = steps
        self.user = user
    }

    /// Opens the file, and returns the state in which the download starts. It includes the kept bytes if the options
    /// ask for them and they belong to the same endpoint, with the same header fields, and to the same account. If the
    /// name of the kept bytes or of their resume data is taken by another user's file, the download uses another name,
    /// and keeps nothing.
    func openState(for options: DownloadOptions, resumeFingerprint: String) throws -> DownloadReceiver.State {
        var state = DownloadReceiver.State()
        if !options.replacesExisting, Disk.exists(destination.path) {
            throw FileError(.exists, path: destination.path)
        }
        IncomingFile.removeLeftovers(of: destination, by: user)
        guard options.keepsPartial, !isForeign(destination.resumeData),
            let file = try IncomingFile.keptPartial(for: destination, of: user, leftoversAreRemoved: true)
        else {
            // Created now, so that a missing folder fails the call before the request is sent.
            state.file = try IncomingFile.make(for: destination, leftoversAreRemoved: true)
            return state
        }
        state.file = file
        state.keepsPartial = true
        var size = try file.size()
        let resumeData = readResumeData()
        // This call may also delete bytes that no call can resume.
        state.mayDeletePartial = size == 0 || resumeData == nil || resumeData?.resumeFingerprint == resumeFingerprint
        guard let resumeData, resumeData.resumeFingerprint == resumeFingerprint, size > 0, size <= resumeData.total
        else { return state }
        if size == resumeData.total {
            // A process was killed after the last byte and before the file was published. Request the last byte again:
            // the response shows whether the file is still the same.
            size -= 1
            try file.truncate(to: size)
            guard size > 0 else { return state }
        }
        state.written = size
        state.resumedBytes = size
        state.resumption = resumeData
        #if canImport(CryptoKit) || Encryption
            if let check = options.check { state.digest = try RunningDigest(for: check, of: file) }
        #endif
        return state
    }

    private func readResumeData() -> ResumeData? {
        // Without symbolic links, and only if no other user can write the file.
        guard let data = try? PrivateFile(path: destination.resumeData).read(.unchangeable) else { return nil }
        return try? JSONDecoder().decode(ResumeData.self, from: data)
    }

    func write(_ resumeData: ResumeData) throws {
        let data = try JSONEncoder().encode(resumeData)
        // The lock on the kept bytes is held, so stale files have already been removed.
        let file = try IncomingFile.make(for: destination.ofResumeData, mode: 0o600, leftoversAreRemoved: true)
        try file.write(data, at: 0)
        try file.publish(replacing: true)
        steps.reached(.resumeDataWritten)
    }

    func removeResumeData() {
        if !isForeign(destination.resumeData) { System.unlink(destination.resumeData) }
    }

    private func isForeign(_ path: String) -> Bool {
        var status = stat()
        return System.lstat(path, &status) == 0 && status.st_uid != user
    }

    /// Removes the kept bytes. The caller must hold the lock on them.
    func remove() {
        // Remove the resume data first: without it, the bytes are never resumed.
        removeResumeData()
        if !isForeign(destination.partial) { System.unlink(destination.partial) }
    }

    /// Removes the kept bytes and their resume data, unless a download holds the lock on the bytes.
    func removeUnlessInUse() {
        let isKept = [destination.partial, destination.resumeData].contains(where: Disk.exists)
        // Lock the bytes even if only resume data exists: another download may be starting and writing its own.
        guard isKept,
            let file = try? IncomingFile.keptPartial(for: destination, of: user, leftoversAreRemoved: true)
        else { return }
        withExtendedLifetime(file) { remove() }
    }

    /// Removes the kept bytes, their resume data and the stale files of killed processes, unless a download holds the
    /// lock.
    func discard() {
        IncomingFile.removeLeftovers(of: destination, by: user)
        removeUnlessInUse()
    }
}

extension HTTPResponse {
    /// The value of `Content-Length`, if it is a valid length.
    var contentLength: Int64? {
        headerFields[.contentLength].flatMap { Int64($0) }.flatMap { (0..<(Int64.max / 2)).contains($0) ? $0 : nil }
    }

    /// The server's digest of the complete file (RFC 9530).
    var reprDigest: String? {
        HTTPField.Name("Repr-Digest").flatMap { headerFields[$0] }
    }

    /// Whether a partial response is the rest of the known file, starting at a position. The request has asked for that
    /// with `If-Range`, but some servers ignore the field.
    func continues(_ resumeData: PartialDownload.ResumeData, from start: Int64) -> Bool {
        guard let range = headerFields[.contentRange].flatMap(ContentRange.init), let bounds = range.bounds,
            bounds.lowerBound == start, bounds.upperBound == resumeData.total - 1,
            range.total ?? resumeData.total == resumeData.total,
            ContentCodings(headerFields).names.isEmpty
        else { return false }
        // A 206 repeats the entity tag (RFC 9110, section 15.3.7), but may omit the date.
        if resumeData.validator.hasPrefix("\"") { return headerFields[.eTag] == resumeData.validator }
        return headerFields[.lastModified] ?? resumeData.validator == resumeData.validator
    }
}
