internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The events that the system reports, on a thread of its own. Each method returns when the list on the disk has the
/// change.
extension BackgroundTransfers {
    /// The system has downloaded a response, and deletes the file when the method returns.
    func systemDidDownload(_ end: BackgroundTask.End, to file: String) {
        guard case .response(let head, _) = end.result else { return }
        let (folder, status) = (list.folder, head.status.code)
        note(end) { record throws(StorageError) in
            guard !record.accepts(status) || isRejected(record, head, nil, end) else {
                do throws(FileError) {
                    try folder.keepDownload(file, of: end.name, status: status)
                    record.phase = .received(status: status)
                } catch {
                    record.phase = .failed(.file(error.description))
                }
                return
            }
            let start = try? FileChunks.readStart(ofFileAt: file, upTo: TransferFolder.largestResponse)
            let body = start.flatMap { $0.size <= TransferFolder.largestResponse ? $0.start : nil }
            try receive(head, body, end, &record)
        }
    }

    /// A task has ended.
    func systemDidEnd(_ end: BackgroundTask.End) {
        note(end) { record throws(StorageError) in
            switch end.result {
            case .response(let head, let body) where record.kind == .upload:
                try receive(head, body, end, &record)
            case .response:
                // The file could not be noted when it arrived.
                record.phase = record.phaseAfterInterruption
            case .cancelledBySystem(let resumeData):
                record.phase = record.phaseAfterInterruption
                state.withLock { $0.resumeData[record.id] = resumeData }
            case .failure(let reason):
                record.phase = .failed(.connection(reason))
            }
        }
    }

    /// Notes the end of the current attempt. Ends of other attempts change nothing.
    private func note(
        _ end: BackgroundTask.End, _ change: (inout TransferRecord) throws(StorageError) -> Void
    ) {
        do throws(StorageError) {
            try list.changeHere(end.name.id) { record throws(StorageError) in
                guard record.awaits(end.name) else { return false }
                try change(&record)
                return true
            }
        } catch {
            // The disk is full or broken. The next launch finds a transfer without a task.
            return
        }
        requestSettlement()
    }

    private func receive(
        _ head: HTTPResponse, _ body: Data?, _ end: BackgroundTask.End, _ record: inout TransferRecord
    ) throws(StorageError) {
        let status = head.status.code
        if isRejected(record, head, body, end) {
            record.phase = .rejected
            return
        }
        try list.folder.keepResponse(body, of: record.id)
        record.phase = record.accepts(status) ? .received(status: status) : .failed(.unacceptableStatus(status))
    }

    /// Whether the response rejects the token of the attempt.
    private func isRejected(
        _ record: TransferRecord, _ head: HTTPResponse, _ body: Data?, _ end: BackgroundTask.End
    ) -> Bool {
        guard let tokens = client.tokens, record.isSigned, record.owner.session != nil, !end.leftOrigin else {
            return false
        }
        let location = record.url.flatMap { try? Location.parse($0).get() }
        let request = HTTPRequest(
            method: HTTPRequest.Method(record.method) ?? .get, scheme: location?.origin.scheme,
            authority: location?.authority, path: location?.target)
        return tokens.isRejected(ServerResponse(head: head, body: body ?? Data()), to: request)
    }
}
