internal import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension BackgroundTransfers {
    /// Uploads the body of an endpoint. It is first written to a private file, which is deleted after the end.
    /// - Parameters:
    ///   - endpoint: The endpoint. Its ``Endpoint/timeout`` does not apply.
    ///   - id: Identifies the transfer. If there is one with this ID already, nothing is started. Choose and store the ID
    ///     yourself if the app must know after a crash whether the transfer has begun.
    /// - Returns: The ID.
    /// - Throws: ``NetworkError`` if there is no token, or if the request or a file is not valid. Nothing has begun then.
    @discardableResult
    public func upload(_ endpoint: any Endpoint, id: UUID = UUID()) async throws(NetworkError) -> UUID {
        try await begin(id, .upload, endpoint, endpoint.body, path: nil)
    }

    /// Uploads a file. It must stay unchanged until the transfer has ended.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - endpoint: The endpoint. Its ``Endpoint/body`` and ``Endpoint/timeout`` do not apply.
    ///   - id: Identifies the transfer. If there is one with this ID already, nothing is started.
    /// - Returns: The ID.
    /// - Throws: ``NetworkError`` if there is no token, or if the request or the file is not valid. Nothing has begun then.
    @discardableResult
    public func upload(
        fileAt path: String, to endpoint: any Endpoint, id: UUID = UUID()
    ) async throws(NetworkError) -> UUID {
        try await begin(id, .upload, endpoint, .file(at: path), path: path)
    }

    /// Downloads the response of an endpoint to a file, which replaces an existing one.
    /// - Parameters:
    ///   - endpoint: The endpoint. Its ``Endpoint/body`` and ``Endpoint/timeout`` do not apply.
    ///   - path: The path of the new file. Its folder must exist.
    ///   - id: Identifies the transfer. If there is one with this ID already, nothing is started.
    /// - Returns: The ID.
    /// - Throws: ``NetworkError`` if there is no token, or if the request or the folder is not valid. Nothing has begun
    ///   then.
    @discardableResult
    public func download(
        _ endpoint: any Endpoint, to path: String, id: UUID = UUID()
    ) async throws(NetworkError) -> UUID {
        try await begin(id, .download, endpoint, nil, path: path)
    }

    private func begin(
        _ id: UUID, _ kind: TransferRecord.Kind, _ endpoint: any Endpoint, _ body: RequestBody?, path: String?
    ) async throws(NetworkError) -> UUID {
        // Also for an endpoint that needs no session: what it brings belongs to the user who is signed in now.
        let owner = client.tokens?.currentOwner ?? .unbound
        var call = CallDescription(unsent: endpoint)
        do {
            let session = try await launched()
            guard list.record(id) == nil, state.withLock({ $0.starting.insert(id).inserted }) else { return id }
            defer { endStart(of: id) }
            let outgoing = OutgoingCall(
                endpoint, body: body, start: client.pipeline.begin(endpoint.authentication, as: owner))
            var state = try client.pipeline.build(outgoing, length: await body?.measured())
            call = state.context.call
            try await check(kind, endpoint, path)
            // The system sends the body without asking the server first.
            state.request.headerFields[.expect] = nil
            do {
                await list.reuse(id)
                if path == nil { try await keep(try await state.body?.open() ?? OutgoingBody(Data()), of: id) }
                let authorization = try await authorize(endpoint.authentication, state.context.origin, owner)
                let record = TransferRecord(
                    id, kind, endpoint, state, authorization,
                    path: path.map { PortablePath.portable($0, home: home) })
                noteStart(of: id)
                try await list.add(record)
                try await start(record, state.request, authorization.credential, in: session)
            } catch {
                await discard(id)
                throw error
            }
            return id
        } catch let error as StorageError {
            throw .storageUnavailable(call, error)
        } catch let error as BackgroundTransferError {
            throw .invalidRequest(call, reason: error.description)
        } catch {
            throw AttemptRunner.wrap(error, call: call)
        }
    }

    private func noteStart(of id: UUID) {
        state.withLock { state in
            state.ended.remove(id)
            state.owned.insert(id)
        }
    }

    private func endStart(of id: UUID) {
        _ = state.withLock { $0.starting.remove(id) }
        // The session may have ended since.
        requestSettlement()
    }

    private func check(_ kind: TransferRecord.Kind, _ endpoint: any Endpoint, _ path: String?) async throws {
        for field in endpoint.headers
        where field.indexingStrategy == .disallow || Redaction.isSensitive(headerName: field.name.rawName) {
            throw InvalidRequestError(
                "A background transfer keeps the header fields of its endpoint on the disk, which \(field.name) must not "
                    + "be. Move it to NetworkConfig.headers.")
        }
        if kind == .upload, [.get, .head].contains(endpoint.method) {
            throw InvalidRequestError("An upload needs a method with a body, such as POST or PUT.")
        }
        guard let path else { return }
        try await BlockingQueue.run { () throws(FileError) in
            if kind == .upload {
                _ = try FileChunks.size(ofFileAt: path)
            } else if let folder = Optional(PrivateFile(path: path).location.folder), !Disk.exists(folder) {
                throw FileError(.missing, path: folder)
            }
        }
    }

    private func keep(_ body: OutgoingBody, of id: UUID) async throws {
        let folder = list.folder
        try await PendingBody.write(body, queue: BlockingQueue("martlet.background-body")) { () throws(FileError) in
            try folder.makeBody(of: id)
        }
        await BlockingQueue.run { folder.steps.reached(.bodyKept) }
    }

    /// The owner of a new transfer, and the token of its first attempt.
    private func authorize(
        _ requirement: AuthenticationRequirement, _ origin: Origin, _ owner: CallOwner
    ) async throws(SessionError) -> TransferAuthorization {
        guard let tokens = client.tokens else { return TransferAuthorization(owner: .noUser) }
        var credential: Credential?
        if requirement != .none, tokens.mayCarryToken(to: origin) {
            switch await tokens.credential(lasting: options.minimumTokenLifetime, for: owner) {
            case .success(let current): credential = current
            case .failure(.signedOut) where requirement == .ifSignedIn: return TransferAuthorization(owner: .noUser)
            case .failure(let error): throw error
            }
        }
        let owner = try await tokens.lastingOwner(of: owner)
        if let credential, credential.stamp.session != owner.session { throw .sessionChanged }
        if owner.session == nil, requirement == .required { throw .signedOut }
        return TransferAuthorization(owner: owner, credential: credential)
    }
}

/// The owner of a transfer, and the token that it starts with.
struct TransferAuthorization: Sendable {
    let owner: LastingOwner
    var credential: Credential?
}

extension TransferRecord {
    fileprivate init(
        _ id: UUID, _ kind: Kind, _ endpoint: any Endpoint, _ call: CallState, _ authorization: TransferAuthorization,
        path: String?
    ) {
        let request = call.request
        let url = (try? request.target()) ?? ""
        var fields = endpoint.headers
        if fields[.contentType] == nil, let type = request.headerFields[.contentType] { fields[.contentType] = type }
        self.init(
            id: id, kind: kind, method: request.method.rawValue, shownURL: Redaction.redactURL(url),
            url: Redaction.redactURL(url) == url ? url : nil,
            headers: fields.map { [$0.name.rawName, $0.value] },
            acceptableStatuses: endpoint.acceptableStatuses.ranges, path: path, owner: authorization.owner,
            isSigned: authorization.credential != nil)
    }
}
