internal import HTTPTypes
internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Starts the attempts of transfers. Each attempt is signed anew, and becomes a task of the system.
final class TransferAttempts: Sendable {
    private let list: TransferList
    private let folder: TransferFolder
    private let client: NetworkClient
    private let minimumTokenLifetime: Duration
    /// The resume data that the system gave for interrupted downloads. It contains tokens, so it is never stored.
    private let resumeData = Locked<[UUID: Data]>([:])
    /// The number of times this process has seen the system end the task of a transfer without a result.
    private let losses = Locked<[UUID: Int]>([:])

    /// The limit of losses in one process. A system that has ended a transfer this often would end it again.
    private static let maximumLosses = 4

    /// - Parameter minimumTokenLifetime: The minimum remaining lifetime of a token when an attempt starts.
    init(of list: TransferList, in folder: TransferFolder, client: NetworkClient, minimumTokenLifetime: Duration) {
        self.list = list
        self.folder = folder
        self.client = client
        self.minimumTokenLifetime = minimumTokenLifetime
    }

    /// Finds the owner of a new transfer, and signs its first attempt.
    func authorize(
        _ request: inout HTTPRequest, _ requirement: AuthenticationRequirement, at origin: Origin, as owner: CallOwner
    ) async throws(SessionError) -> TransferAuthorization {
        guard let tokens = client.tokens else {
            return TransferAuthorization(owner: try await client.storedOwner(of: owner))
        }
        var stamp: SessionStamp?
        // RFC 9110, section 9.3.8.
        if requirement != .none, request.method != .trace, tokens.mayCarryToken(to: origin) {
            do throws(SessionError) {
                stamp = try await tokens.sign(&request, lasting: minimumTokenLifetime, for: owner)
            } catch .signedOut where requirement == .ifSignedIn {
                return TransferAuthorization(owner: .noUser)
            } catch .expired where requirement == .ifSignedIn && owner.session == nil && request.method.isSafe {
                return TransferAuthorization(owner: .noUser)
            }
        }
        let owner = try await client.storedOwner(of: owner)
        if let stamp, stamp.session != owner.session { throw .sessionChanged }
        if owner.session == nil, requirement == .required { throw .signedOut }
        return TransferAuthorization(owner: owner, stamp: stamp)
    }

    /// Hands an attempt to the system.
    ///
    /// The order of the steps makes a crash harmless. The task of a planned attempt has not been resumed, so the
    /// attempt can be planned again with any HTTP method. A started attempt may have reached the server.
    /// - Returns: `false` if the transfer has been removed.
    @discardableResult
    func start(
        _ record: TransferRecord, _ request: HTTPRequest, _ stamp: SessionStamp?, in session: BackgroundSession
    ) async throws -> Bool {
        let data = resumeData.withLock { $0.removeValue(forKey: record.id) }
        // The resume data contains the request of the interrupted task, with its token.
        let resumeData = stamp == record.stamp ? data : nil
        guard let planned = try await list.change(record, { $0.planAttempt(with: stamp) }) else { return false }
        await BlockingQueue.run { [folder] in folder.removeResponse(of: record.id) }
        guard let task = try await makeTask(planned, request, resumeData, in: session) else {
            try await fail(planned, .file("The file to upload is missing. Keep it until the transfer has ended."))
            return true
        }
        do {
            // The transfer may have been removed while its task was made.
            guard try await list.change(planned, { $0.start() }) != nil else {
                task.cancel()
                return false
            }
        } catch {
            task.cancel()
            throw error
        }
        task.resume()
        await BlockingQueue.run { [folder] in folder.reached(.taskResumed) }
        return true
    }

    /// - Returns: `nil` if the file to upload is missing. The system would raise an exception.
    private func makeTask(
        _ record: TransferRecord, _ request: HTTPRequest, _ resumeData: Data?, in session: BackgroundSession
    ) async throws -> BackgroundTask? {
        try await BlockingQueue.run { [folder] in
            let work: BackgroundTask.Plan.Work
            switch record.kind {
            case .upload:
                let path = folder.path(of: record) ?? folder.body(of: record.id)
                do throws(FileError) {
                    _ = try FileChunks.size(ofFileAt: path)
                } catch {
                    if error.kind == .missing || error.kind == .notRegular { return nil }
                    // A file that is locked with the device can be read later.
                    throw error
                }
                work = .upload(path: path)
            case .download: work = resumeData.map { .resumption($0) } ?? .download
            }
            let task = try session.makeTask(BackgroundTask.Plan(name: record.name, request: request, work: work))
            folder.reached(.taskMade)
            return task
        }
    }

    /// Starts a transfer again: with a token that replaces a rejected one, or after an interruption.
    func restart(_ record: TransferRecord, in session: BackgroundSession) async throws {
        // An earlier version did not record the status, which was almost always this one.
        let rejection = BackgroundTransferError.unacceptableStatus(record.rejection ?? 401)
        guard let endpoint = RecordedEndpoint(record) else {
            return try await fail(record, record.phase == .rejected ? rejection : .interrupted)
        }
        // After an interruption, the last token has not been rejected.
        if record.phase == .rejected, record.replays >= TransferRecord.maximumReplays {
            return try await fail(record, rejection)
        }
        var request = try await client.unsentRequest(for: endpoint, body: nil).head
        var stamp: SessionStamp?
        if record.isSigned, let session = record.owner.session, let tokens = client.tokens {
            let owner = tokens.currentOwner
            guard owner.session == session else { throw SessionError.sessionChanged }
            if record.phase == .rejected, let stamp = record.stamp { try await tokens.replaceToken(of: stamp) }
            stamp = try await tokens.sign(&request, lasting: minimumTokenLifetime, for: owner)
            // If no refresh can start now, the rejected token is still in use, and the transfer waits.
            if record.phase == .rejected, stamp == record.stamp { return }
        }
        try await start(record, request, stamp, in: session)
    }

    private func fail(_ record: TransferRecord, _ error: BackgroundTransferError) async throws(StorageError) {
        try await list.change(record) { $0.fail(error) }
    }

    /// Keeps the data with which the next attempt resumes a download.
    func keepResumeData(_ data: Data?, of id: UUID) {
        resumeData.withLock { $0[id] = data }
    }

    /// Forgets a removed transfer.
    func forget(_ id: UUID) {
        keepResumeData(nil, of: id)
        losses.withLock { $0[id] = nil }
    }

    /// Counts a loss.
    /// - Returns: Whether the transfer may start again.
    func mayStartAgain(_ id: UUID) -> Bool {
        losses.withLock { counts in
            counts[id, default: 0] += 1
            return counts[id, default: 0] <= Self.maximumLosses
        }
    }
}

/// The owner of a transfer, and the token that signed its first attempt.
struct TransferAuthorization: Sendable {
    let owner: StoredOwner
    var stamp: SessionStamp?
}
