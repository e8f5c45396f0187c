internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One attempt of a transfer.
extension BackgroundTransfers {
    /// Hands an attempt to the system.
    ///
    /// The order makes a crash harmless: an attempt that was planned has not been resumed, so it can be planned again with
    /// any method. One that was started may have reached the server.
    func start(
        _ record: TransferRecord, _ request: HTTPRequest, _ credential: Credential?, in session: BackgroundSession
    ) async throws {
        var request = request
        if let credential, let tokens = client.tokens {
            request.headerFields[tokens.scheme.header] = nil
            request.headerFields.append(tokens.scheme.field(with: credential.accessToken))
        }
        let stamp = credential?.stamp
        let data = state.withLock { $0.resumeData.removeValue(forKey: record.id) }
        // The data has the request of the interrupted task, with its token.
        let resumeData = stamp == record.stamp ? data : nil
        let planned = try await change(record) { current in
            current.replays += record.phase == .rejected ? 1 : 0
            current.attempt += 1
            current.rotation = stamp?.rotation
            current.phase = .planned
        }
        guard let planned else { return }
        let task = try await makeTask(planned, request, resumeData, in: session)
        guard let task else {
            return try await fail(
                planned, .file("The file to upload is missing. Keep it until the transfer has ended."))
        }
        do {
            // The transfer may have been removed while its task was made.
            guard try await change(planned, { $0.phase = .started }) != nil else { return task.cancel() }
        } catch {
            task.cancel()
            throw error
        }
        task.resume()
        let steps = list.folder.steps
        await BlockingQueue.run { steps.reached(.taskResumed) }
    }

    /// - Returns: `nil` if the file to upload is missing. The system would raise an exception.
    private func makeTask(
        _ record: TransferRecord, _ request: HTTPRequest, _ resumeData: Data?, in session: BackgroundSession
    ) async throws -> BackgroundTask? {
        let folder = list.folder
        let path = record.path.map { PortablePath.absolute($0, home: home) } ?? folder.body(of: record.id)
        return try await BlockingQueue.run {
            let work: BackgroundTask.Plan.Work
            switch record.kind {
            case .upload:
                guard (try? FileChunks.size(ofFileAt: path)) != nil else { return nil }
                work = .upload(path: path)
            case .download: work = resumeData.map { .resumption($0) } ?? .download
            }
            let task = try session.makeTask(BackgroundTask.Plan(name: record.name, request: request, work: work))
            folder.steps.reached(.taskMade)
            return task
        }
    }

    /// Starts a transfer again: with a token that replaces a rejected one, or after an interruption.
    func restart(_ record: TransferRecord, in session: BackgroundSession) async throws {
        guard let endpoint = RecordedEndpoint(record) else {
            return try await fail(record, record.phase == .rejected ? .unacceptableStatus(401) : .interrupted)
        }
        guard record.replays < TransferRecord.maximumReplays else {
            return try await fail(record, .unacceptableStatus(401))
        }
        let outgoing = OutgoingCall(endpoint, body: nil, start: client.pipeline.begin(.none))
        let call = try client.pipeline.build(outgoing, length: nil)
        var credential: Credential?
        if record.isSigned, let session = record.owner.session, let tokens = client.tokens {
            let owner = tokens.currentOwner
            guard owner.session == session else { throw SessionError.sessionChanged }
            if record.phase == .rejected, let stamp = record.stamp {
                _ = try await tokens.credential(replacing: stamp).get()
            }
            let current = try await tokens.credential(lasting: options.minimumTokenLifetime, for: owner).get()
            // The token that the server has rejected is still in use if no refresh can start now.
            if record.phase == .rejected, current.stamp == record.stamp { return }
            credential = current
        }
        try await start(record, call.request, credential, in: session)
    }

    private func fail(_ record: TransferRecord, _ error: BackgroundTransferError) async throws(StorageError) {
        try await change(record) { $0.phase = .failed(error) }
    }

    /// Changes a transfer, unless it is no longer as it was.
    /// - Returns: The record after the change; `nil` if nothing has changed.
    @discardableResult
    private func change(
        _ record: TransferRecord, _ change: @escaping @Sendable (inout TransferRecord) -> Void
    ) async throws(StorageError) -> TransferRecord? {
        try await list.change(record.id) { current in
            guard current == record else { return false }
            change(&current)
            return true
        }
    }
}
