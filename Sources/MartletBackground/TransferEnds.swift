internal import HTTPTypes
internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Records the ends of tasks, which the system reports on a thread of its own. Each method returns when the change is
/// on the disk.
struct TransferEnds: Sendable {
    private let attempts: TransferAttempts
    private let list: TransferList
    private let folder: TransferFolder
    private let tokens: TokenManager?

    init(of attempts: TransferAttempts, _ list: TransferList, _ folder: TransferFolder, tokens: TokenManager?) {
        self.attempts = attempts
        self.list = list
        self.folder = folder
        self.tokens = tokens
    }

    /// Notes that the system has downloaded a response. The system deletes the file when the method returns.
    /// - Returns: Whether the end is recorded, or changes nothing.
    func noteDownload(_ end: BackgroundTask.End, at file: String) -> Bool {
        guard case .response(let head, _) = end.result else { return false }
        let status = head.status.code
        let start = try? FileChunks.readStart(ofFileAt: file, upTo: TransferFolder.largestResponse)
        let body = start.flatMap { $0.size <= TransferFolder.largestResponse ? $0.start : nil }
        return note(end.name) { record throws(StorageError) in
            guard !record.accepts(status) || isRejected(record, head, body, end) else {
                return keepDownload(file, of: end.name, status: status, in: &record)
            }
            receive(head, body, end, &record)
        }
    }

    private func keepDownload(
        _ file: String, of name: BackgroundTask.Name, status: Int, in record: inout TransferRecord
    ) {
        // The app's file must not be replaced with an empty one.
        guard Self.hasFile(status) else { return record.fail(.unacceptableStatus(status)) }
        do throws(FileError) {
            try folder.keepDownload(file, of: name, status: status)
            record.receive(status: status)
        } catch {
            // If it is missing, the system has deleted it, or the path leads nowhere since the app was updated.
            let mayStartAgain = error.kind == .missing && attempts.mayStartAgain(record.id)
            if mayStartAgain { record.interrupt() } else { record.fail(.file(error.description)) }
        }
    }

    /// Whether a response has a file that an app may ask for.
    private static func hasFile(_ status: Int) -> Bool {
        (200..<300).contains(status) && status != 204 && status != 205
    }

    /// Notes that a task has ended.
    /// - Returns: Whether the end is recorded, or changes nothing.
    func note(_ end: BackgroundTask.End) -> Bool {
        note(end.name) { record in
            switch end.result {
            case .response(let head, let body) where record.kind == .upload:
                receive(head, body, end, &record)
            case .response(let head, _) where record.accepts(head.status.code) && !Self.hasFile(head.status.code):
                record.fail(.unacceptableStatus(head.status.code))
            case .response:
                // The download could not be recorded when its file arrived.
                guard attempts.mayStartAgain(record.id) else {
                    return record.fail(.connection("its file could not be kept"))
                }
                record.interrupt()
            case .interrupted(let reason, let resumeData):
                guard attempts.mayStartAgain(record.id) else {
                    return record.fail(
                        .connection(
                            reason == .disconnection
                                ? "the system's service for background transfers keeps ending it"
                                : "the system keeps cancelling it"))
                }
                record.interrupt()
                attempts.keepResumeData(resumeData, of: record.id)
            case .failure(let reason):
                record.fail(.connection(reason))
            }
        }
    }

    /// Records the end of the current attempt. The end of any other attempt is ignored.
    /// - Returns: `false` if the disk is full or broken. The next launch then finds a transfer without a task.
    private func note(
        _ name: BackgroundTask.Name, _ change: (inout TransferRecord) throws(StorageError) -> Void
    ) -> Bool {
        do throws(StorageError) {
            try list.changeHere(name.id) { record throws(StorageError) in
                guard record.awaits(name) else { return false }
                try change(&record)
                return true
            }
            return true
        } catch {
            return false
        }
    }

    private func receive(
        _ head: HTTPResponse, _ body: Data?, _ end: BackgroundTask.End, _ record: inout TransferRecord
    ) {
        // Kept even if the token is rejected, because there may be no further attempt. The status must not be lost if
        // the disk has no room for the body.
        try? folder.keepResponse(body, of: record.id)
        let status = head.status.code
        if isRejected(record, head, body, end) {
            record.reject(status: status)
        } else if record.accepts(status) {
            record.receive(status: status)
        } else {
            record.fail(.unacceptableStatus(status))
        }
    }

    /// Whether the response rejects the token of the attempt.
    private func isRejected(
        _ record: TransferRecord, _ head: HTTPResponse, _ body: Data?, _ end: BackgroundTask.End
    ) -> Bool {
        let method = HTTPRequest.Method(record.method) ?? .get
        // The server has performed a POST that it redirected to a GET, and must not perform it twice.
        let isPerformed = end.hasOtherMethod && !method.isIdempotent
        guard let tokens, record.isSigned, record.owner.session != nil, !end.leftOrigin, !isPerformed else {
            return false
        }
        return tokens.isRejected(ServerResponse(head: head, body: body ?? Data()), to: method, at: record.url)
    }
}
