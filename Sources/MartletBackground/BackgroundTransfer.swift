public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A snapshot of an upload or a download of ``BackgroundTransfers``.
public struct BackgroundTransfer: Sendable, Hashable, Identifiable {
    /// The stage of a transfer.
    public enum Stage: Sendable, Hashable {
        /// The system performs the transfer, or the transfer waits for a network so that its token can be refreshed.
        case underWay
        /// The session has expired. The transfer continues if the same user signs in again
        /// (``/Martlet/SessionAccount/userID``), and is deleted if another user does.
        case waitingForSignIn
        /// The server has accepted the transfer with this status. A downloaded file is at its path.
        case finished(status: Int)
        /// The transfer has ended without success.
        case failed(BackgroundTransferError)
    }

    /// Identifies the transfer, even after the app has been launched again.
    public let id: UUID
    /// Method and URL, with secrets masked.
    public let call: CallDescription
    /// The path of the downloaded file, or of the uploaded one; `nil` for an upload whose body is not a file of the
    /// app.
    public let path: String?
    /// The stage of the transfer.
    public let stage: Stage
    /// The body of the response to an upload, or to a download that the server refused, up to 1 MiB; `nil` if there is
    /// none yet, or if it is larger.
    public let response: Data?

    /// Whether the transfer has ended and will not change any more.
    public var hasEnded: Bool {
        switch stage {
        case .underWay, .waitingForSignIn: false
        case .finished, .failed: true
        }
    }
}

extension BackgroundTransfer {
    /// - Parameter path: The path of the record's file.
    init(_ record: TransferRecord, _ stage: Stage, response: Data?, path: String?) {
        self.init(
            id: record.id, call: CallDescription(method: record.method, url: record.shownURL, attempts: record.attempt),
            path: path, stage: stage, response: response)
    }
}

extension TransferRecord {
    /// The stage that the app sees.
    /// - Parameter isExpired: Whether the session of the transfer has expired.
    func stage(isExpired: Bool) -> BackgroundTransfer.Stage {
        switch phase {
        case .finished(let status): .finished(status: status)
        case .failed(let error): .failed(error)
        case .started: .underWay
        case .planned, .rejected, .received: isExpired ? .waitingForSignIn : .underWay
        }
    }
}
