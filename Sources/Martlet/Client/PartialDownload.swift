internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What is kept of a download that broke off, with what must be known to go on. Every call blocks.
struct PartialDownload: Sendable {
    let place: IncomingFile.Place

    /// What the bytes are a part of.
    struct Notes: Codable, Hashable {
        /// A fingerprint of what was asked for, and for whom: an address may hold what is nobody else's business.
        let source: String
        /// What `If-Range` takes.
        let validator: String
        /// How many bytes there are in all.
        let total: Int64
        /// What the server said of all of them.
        let reprDigest: String?

        /// The rest can be asked for later where the server says how much there is, and by what it can be known again: an
        /// entity tag that is strong, or a date that is old enough to be (RFC 9110, sections 8.8.2.2 and 13.1.5).
        init?(_ head: HTTPResponse, source: String) {
            guard let total = head.contentLength, head.headerFields[.acceptRanges] != "none",
                head.headerFields[.contentEncoding] == nil
            else { return nil }
            self.source = source
            self.total = total
            self.reprDigest = head.reprDigest
            if let tag = head.headerFields[.eTag] {
                guard tag.hasPrefix("\"") else { return nil }
                self.validator = tag
                return
            }
            guard let text = head.headerFields[.lastModified], let changed = HTTPDate.parse(text),
                let now = head.headerFields[.date].flatMap(HTTPDate.parse), now.timeIntervalSince(changed) >= 1
            else { return nil }
            self.validator = text
        }
    }

    init(_ path: String) {
        place = IncomingFile.Place(path)
    }

    /// How a download to the place begins: with what is kept, where that is wished and possible.
    func begin(_ options: DownloadOptions, source: String) throws -> DownloadReceiver.State {
        var state = DownloadReceiver.State()
        if !options.replacesExisting, FileManager.default.fileExists(atPath: place.path) {
            throw FileProblem(.exists, path: place.path)
        }
        guard options.keepsPartial, let file = try IncomingFile.keptPartial(for: place) else {
            // Made now, so that a folder that is not there is told before anything is asked of the server.
            state.file = try IncomingFile.make(for: place, isCleared: options.keepsPartial)
            return state
        }
        state.file = file
        state.keeps = true
        var size = try file.size()
        let notes = notes()
        // What nobody can go on with any more is as good as this call's.
        state.isOwn = size == 0 || notes?.source == source || notes == nil
        guard let notes, notes.source == source, size > 0, size <= notes.total else { return state }
        if size == notes.total {
            // All of it had come, and the process was killed before it was in its place. The last byte is asked for
            // again: the answer to that tells whether the file is still the same.
            size -= 1
            try file.truncate(to: size)
            guard size > 0 else { return state }
        }
        state.written = size
        state.keptBytes = size
        state.resumption = notes
        #if canImport(CryptoKit) || Encryption
            if let check = options.check { state.digest = try RunningDigest(for: check, of: file) }
        #endif
        return state
    }

    private func notes() -> Notes? {
        guard let data = FileManager.default.contents(atPath: place.notes) else { return nil }
        return try? JSONDecoder().decode(Notes.self, from: data)
    }

    func write(_ notes: Notes) throws {
        let data = try JSONEncoder().encode(notes)
        // Whoever has what is kept has cleared its place.
        let file = try IncomingFile.make(for: place.ofNotes, isCleared: true)
        try file.write(data, at: 0)
        try file.publish(replacing: true)
    }

    /// Forgets what the bytes are a part of.
    func removeNotes() {
        try? FileManager.default.removeItem(atPath: place.notes)
    }

    /// For whoever has the file.
    func remove() {
        // Notes first: without them the bytes are of no use.
        removeNotes()
        try? FileManager.default.removeItem(atPath: place.partial)
    }

    /// Removes what is kept unless somebody is at it.
    func removeUnlessInUse() {
        let isKept = [place.partial, place.notes].contains(where: FileManager.default.fileExists)
        // For notes alone the file is locked as well: somebody may begin just now, and write theirs.
        guard isKept, let file = try? IncomingFile.keptPartial(for: place, isCleared: true) else { return }
        withExtendedLifetime(file) { remove() }
    }

    /// Removes what is kept and what killed processes have left, unless somebody is at it.
    func discard() {
        IncomingFile.removeLeftovers(of: place)
        removeUnlessInUse()
    }
}

extension HTTPResponse {
    /// What `Content-Length` says, where it says something sensible.
    var contentLength: Int64? {
        headerFields[.contentLength].flatMap { Int64($0) }.flatMap { (0..<(Int64.max / 2)).contains($0) ? $0 : nil }
    }

    /// What the server says of the whole file (RFC 9530).
    var reprDigest: String? {
        HTTPField.Name("Repr-Digest").flatMap { headerFields[$0] }
    }

    /// Whether a partial answer has the rest of what is known, from a position on. The server was told what it must be, but not
    /// all of them heed `If-Range`.
    func goesOn(with notes: PartialDownload.Notes, from start: Int64) -> Bool {
        guard let range = headerFields[.contentRange].flatMap(ContentRange.init), let bounds = range.bounds,
            bounds.lowerBound == start, bounds.upperBound == notes.total - 1, range.total ?? notes.total == notes.total,
            headerFields[.contentEncoding] == nil
        else { return false }
        // With the rest comes the tag that came with the whole (RFC 9110, section 15.3.7); a date may be left out.
        if notes.validator.hasPrefix("\"") { return headerFields[.eTag] == notes.validator }
        return headerFields[.lastModified] ?? notes.validator == notes.validator
    }
}
