internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A transfer that the app asks for.
struct NewTransfer: Sendable {
    let id: UUID
    let kind: TransferRecord.Kind
    let endpoint: any Endpoint
    /// The body to send instead of the endpoint's.
    let body: RequestBody?
    /// The file that is uploaded, or the path of the downloaded one; `nil` for an upload whose body is not a file of
    /// the app.
    let path: String?
    /// The number of times the app had removed all transfers when it asked for this one.
    var removals = 0

    /// Throws an error if the transfer cannot be performed in the background.
    func check() async throws {
        for field in endpoint.headers where field.isSensitive {
            throw InvalidRequestError(
                "A background transfer keeps the header fields of its endpoint on the disk, which \(field.name) must not "
                    + "be. Move it to NetworkConfig.headers.")
        }
        if kind == .upload, endpoint.method.isGetOrHead {
            throw InvalidRequestError("An upload needs a method with a body, such as POST or PUT.")
        }
        if endpoint.method == .trace, endpoint.authentication == .required {
            throw InvalidRequestError("A TRACE must not carry a token (RFC 9110, section 9.3.8).")
        }
        guard let path else { return }
        try await BlockingQueue.run { () throws(FileError) in
            if kind == .upload {
                _ = try FileChunks.size(ofFileAt: path)
            } else {
                let folder = PrivateFile(path: path).location.folder
                if !Disk.exists(folder) { throw FileError(.missingFolder, path: folder) }
                try Disk.checkReplaceable(path)
            }
        }
    }

    /// Writes the body into a private file, because the system uploads only files.
    func keepBody(_ body: OutgoingBody?, in folder: TransferFolder) async throws {
        let queue = BlockingQueue("martlet.background-body")
        try await PendingBody.write(body ?? OutgoingBody(Data()), queue: queue) { () throws(FileError) in
            try folder.makeBody(of: id)
        }
        await BlockingQueue.run { folder.reached(.bodyKept) }
    }
}

extension TransferRecord {
    /// - Parameter path: The path of the transfer, as it is stored.
    init(of transfer: NewTransfer, _ request: UnsentRequest, _ authorization: TransferAuthorization, path: String?) {
        // Nothing distinguishes a long ID from a token that grants access, so the URL of neither is stored.
        let url = request.url ?? ""
        var fields = transfer.endpoint.headers
        let type = request.head.headerFields[.contentType]
        if fields[.contentType] == nil, let type { fields[.contentType] = type }
        self.init(
            id: transfer.id, run: UUID(), kind: transfer.kind, method: request.head.method.rawValue,
            shownURL: Redaction.redactURL(url), url: Redaction.redactURL(url) == url ? url : nil,
            headers: fields.map { [$0.name.rawName, $0.value] },
            acceptableStatuses: transfer.endpoint.acceptableStatuses.ranges, path: path, owner: authorization.owner,
            isSigned: authorization.stamp != nil)
    }
}
