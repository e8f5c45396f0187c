internal import HTTPTypes
internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A transfer in the list on the disk, with the data that is needed to start it again, but without secrets.
struct TransferRecord: Sendable, Hashable, Codable {
    enum Kind: String, Sendable, Codable {
        case upload, download
    }

    /// The phase of the transfer. Each phase is on the disk before the next step is taken.
    enum Phase: Sendable, Hashable, Codable {
        /// No task of this attempt or a later one has been resumed.
        case planned
        /// A task has been resumed, or is about to be.
        case started
        /// The server has rejected the token of the attempt.
        case rejected
        /// The response is kept, but not yet given to the app.
        case received(status: Int)
        case finished(status: Int)
        case failed(BackgroundTransferError)
    }

    let id: UUID
    /// Distinguishes the transfer from an earlier one with the same ID.
    let run: UUID
    let kind: Kind
    let method: String
    /// Method and URL for the app, with secrets masked.
    let shownURL: String
    /// The URL; `nil` if it looks as if it contained a secret. Such a transfer is never started again.
    let url: String?
    /// The header fields of the endpoint, as pairs.
    let headers: [[String]]
    let acceptableStatuses: [Range<Int>]
    /// The file of the app that is uploaded, or the path of the downloaded file; `nil` if the folder of the list
    /// contains the body. In the form of `TransferFolder.portable`.
    let path: String?
    /// The owner when the transfer was started, even if it needs no session.
    private(set) var owner: StoredOwner
    /// Whether an attempt carries a token.
    let isSigned: Bool
    /// The number of attempts, each with a task of its own.
    private(set) var attempt = 0
    /// The rotation of the token that signed the attempt.
    private(set) var rotation: Int?
    /// The number of attempts that a rejected token has caused.
    private(set) var replays = 0
    /// The status of the response that rejected the last token; `nil` if there was none, or in a record of an earlier
    /// version.
    private(set) var rejection: Int?
    private(set) var phase = Phase.planned

    /// A server that rejects this many new tokens will not accept the next one.
    static let maximumReplays = 4

    var name: BackgroundTask.Name { BackgroundTask.Name(id: id, run: run, attempt: attempt) }

    /// The token of the attempt; `nil` if it carried none, or one of a former session of the user.
    var stamp: SessionStamp? {
        guard let session = owner.session, let rotation else { return nil }
        return SessionStamp(session: session, rotation: rotation)
    }

    /// Whether the request may be sent twice (RFC 9110, section 9.2.2).
    private var isRepeatable: Bool {
        url != nil && HTTPRequest.Method(method)?.isIdempotent == true
    }

    var hasEnded: Bool {
        switch phase {
        case .finished, .failed: true
        case .planned, .started, .rejected, .received: false
        }
    }

    func accepts(_ status: Int) -> Bool {
        acceptableStatuses.contains { $0.contains(status) }
    }

    /// Whether the end of a task is the end of the current attempt. It may arrive after the task counted as lost.
    func awaits(_ name: BackgroundTask.Name) -> Bool {
        name == self.name && (phase == .started || phase == .failed(.interrupted))
    }

    // MARK: - Changes of the phase

    /// Plans the next attempt.
    /// - Parameter stamp: The token of the attempt.
    mutating func planAttempt(with stamp: SessionStamp?) {
        if phase == .rejected { replays += 1 }
        attempt += 1
        rotation = stamp?.rotation
        phase = .planned
    }

    /// Notes that the task of the attempt is about to be resumed.
    mutating func start() {
        phase = .started
    }

    /// Notes that the server has rejected the token of the attempt.
    mutating func reject(status: Int) {
        rejection = status
        phase = .rejected
    }

    /// Notes that the response is kept.
    mutating func receive(status: Int) {
        phase = .received(status: status)
    }

    /// Notes that the result has been given to the app.
    mutating func finish(status: Int) {
        phase = .finished(status: status)
    }

    mutating func fail(_ error: BackgroundTransferError) {
        phase = .failed(error)
    }

    /// Notes that the task has ended without a response.
    mutating func interrupt() {
        phase = isRepeatable ? .planned : .failed(.interrupted)
    }

    /// Moves the transfer to another session of its owner, which has other tokens.
    mutating func pass(to session: SignedInSession) {
        owner = StoredOwner(session)
        rotation = nil
    }
}
