#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What is kept of a download that broke off, with what must be known to go on.
struct PartialDownload: Sendable {
    let place: IncomingFile.Place

    /// What the bytes are a part of.
    struct Notes: Codable, Hashable {
        /// A fingerprint of what was asked for: an address may hold what is nobody else's business.
        var source: String
        /// What `If-Range` takes.
        var validator: String
        /// How many bytes there are in all.
        var total: Int64
    }

    init(_ path: String) {
        place = IncomingFile.Place(path)
    }

    /// What is known of the bytes that are kept; `nil` where they are of no use. Blocks.
    func notes() -> Notes? {
        guard let data = FileManager.default.contents(atPath: place.notes) else { return nil }
        return try? JSONDecoder().decode(Notes.self, from: data)
    }

    /// Blocks.
    func write(_ notes: Notes) throws(DownloadFailure) {
        do {
            try JSONEncoder().encode(notes).write(to: URL(fileURLWithPath: place.notes), options: .atomic)
        } catch {
            throw .file(FileProblem(.forbidden, path: place.folder))
        }
    }

    /// Forgets what the bytes are a part of. Blocks.
    func removeNotes() {
        try? FileManager.default.removeItem(atPath: place.notes)
    }

    /// Blocks.
    func remove() {
        // Notes first: without them the bytes are of no use.
        removeNotes()
        try? FileManager.default.removeItem(atPath: place.partial)
    }
}
