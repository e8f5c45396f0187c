public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Uploads and downloads that the system continues while the app is suspended or not running, on Apple platforms.
///
/// Create one when the app launches, before the app's delegate returns, and keep it:
///
/// ```swift
/// let transfers = try BackgroundTransfers(identifier: "com.example.app.transfers", client: client)
///
/// let id = try await transfers.upload(fileAt: film, to: Call<NoContent>.post("/films"))
///
/// for await transfer in transfers.events {
///     switch transfer.stage {
///     case .finished: try await show(transfer); await transfers.remove(transfer.id)
///     case .failed(let error): await report(error); await transfers.remove(transfer.id)
///     case .waitingForSignIn: await askForSignIn()
///     case .underWay: break
///     }
/// }
/// ```
///
/// A transfer belongs to the session in which it was started, even if its endpoint needs none
/// (``/Martlet/AuthenticationRequirement/none``). Before it starts, a token that would soon expire is refreshed
/// (``BackgroundTransferOptions/minimumTokenLifetime``). If the server still rejects the token, the transfer starts
/// again with a new one, at most once for each token, even after another launch of the app. A transfer whose URL seems
/// to contain a secret does not start again, because such a URL is not stored. When the user signs out or another user
/// signs in, the transfer and its result are deleted. A transfer that was started while no user was signed in, or by a
/// client without a ``/Martlet/TokenManager``, belongs to no user, and no sign-out deletes it; ``removeAll()`` does.
///
/// The client's interceptors, retries, cookies and cache do not apply, because the app may not be running.
/// <doc:TransfersInTheBackground> has the details.
public final class BackgroundTransfers: Sendable {
    private struct State {
        /// The launch that is in progress or has succeeded.
        var launch: Task<BackgroundSession, any Error>?
        /// The transfers whose first attempt is being started.
        var starting: Set<UUID> = []
        /// The number of times the app has removed all transfers.
        var removals = 0
        /// Follows the state of the session.
        var watch: Task<Void, Never>?
        /// Stops the notifications about users who have gone.
        var stopFollowing: (@Sendable () -> Void)?
    }

    /// The identifiers in use in this process. The system does not define the behavior of two sessions with one
    /// identifier.
    private static let identifiers = Locked<Set<String>>([])
    /// How long to wait for the end of a missing task if the system does not report that all events were delivered. It
    /// reports that only if it has launched or woken the app.
    private static let patience = Duration.seconds(60)
    /// The time limit for handling events. The system ends an app that takes about half a minute.
    private static let longestHandling = Duration.seconds(25)

    private let identifier: String
    private let client: NetworkClient
    private let makeSession: @Sendable (BackgroundTransfers) -> BackgroundSession
    private let limits: TimeLimits
    private let folder: TransferFolder
    private let list: TransferList
    private let announcements: TransferAnnouncements
    private let attempts: TransferAttempts
    private let ends: TransferEnds
    private let lostTasks: LostTasks
    private let settler: TransferSettler
    private let settlements = SettlementQueue()
    private let handledEvents = HandledEvents()
    private let state = Locked(State())

    /// - Parameters:
    ///   - home: The folder of the user, or the container of the app. Stored paths have a placeholder for it.
    ///   - group: The container of the app group. Stored paths have a placeholder for it, too.
    ///   - steps: Reports each step to a test.
    ///   - makeSession: Creates the session once the list has been read.
    init(
        identifier: String, client: NetworkClient, options: BackgroundTransferOptions, home: String? = nil,
        group: String? = nil, steps: TransferSteps = TransferSteps(),
        makeSession: @escaping @Sendable (BackgroundTransfers) -> BackgroundSession
    ) throws(BackgroundTransferError) {
        guard Self.identifiers.withLock({ $0.insert(identifier).inserted }) else { throw .identifierInUse(identifier) }
        self.identifier = identifier
        self.client = client
        self.makeSession = makeSession
        limits = TimeLimits(time: client.time)
        folder = TransferFolder(
            path: options.folder ?? Disk.stateFolder(of: identifier) + "/transfers",
            containers: ContainerPaths(
                home: home ?? ProcessInfo.processInfo.environment["HOME"] ?? "", group: group),
            steps: steps)
        list = TransferList(folder)
        announcements = TransferAnnouncements(of: list, in: folder, tokens: client.tokens)
        attempts = TransferAttempts(
            of: list, in: folder, client: client, minimumTokenLifetime: options.minimumTokenLifetime)
        ends = TransferEnds(of: attempts, list, folder, tokens: client.tokens)
        lostTasks = LostTasks(of: list, in: folder)
        settler = TransferSettler(list, folder, announcements, attempts)
        let stop = client.tokens?.onDeparture { [weak self] in self?.userHasGone(endOf: $0) }
        state.withLock { $0.stopFollowing = stop }
        Task { [weak self] in _ = try? await self?.launched() }
    }

    deinit {
        _ = Self.identifiers.withLock { $0.remove(identifier) }
        let stop = state.withLock { state in
            state.watch?.cancel()
            return state.stopFollowing
        }
        stop?()
        announcements.finish()
    }

    /// The transfers that the app has not removed, in no particular order.
    /// - Throws: ``/Martlet/StorageError`` if the list cannot be read, for example before the device was unlocked for
    ///   the first time.
    public var transfers: [BackgroundTransfer] {
        get async throws(StorageError) {
            _ = await session()
            return await settler.shown(try await list.all())
        }
    }

    /// The transfers that have ended or wait for a sign-in: first the current ones, then each new one.
    ///
    /// A transfer that has ended is kept, and reported again after the next launch, until ``remove(_:)`` is called: the
    /// app may be killed before it has handled the result. The end of its session removes it too.
    ///
    /// After a sign-out, or the sign-in of another user, nothing more is reported about the former user's transfers.
    /// The only exception is the end of the unfinished ones (``BackgroundTransferError/sessionEnded``), which earlier
    /// subscribers receive.
    public var events: AsyncStream<BackgroundTransfer> { announcements.subscribe() }

    /// Removes a transfer, and cancels it if it has not ended. A downloaded file stays at its path.
    ///
    /// If the transfer's record cannot be deleted from the disk, it is emptied. If that fails too, the deletion is
    /// tried again later, and this process no longer announces the transfer.
    public func remove(_ id: UUID) async {
        await settler.discard(id) { await self.session() }
        announcements.forget(id)
    }

    /// Removes all transfers, as ``remove(_:)`` does. Subscribers receive nothing more about them, and a transfer that
    /// is being started fails as cancelled. Call it when the user of a client without a ``/Martlet/TokenManager`` signs
    /// out.
    /// - Throws: ``/Martlet/StorageError`` if the list cannot be read.
    public func removeAll() async throws(StorageError) {
        state.withLock { $0.removals += 1 }
        _ = await session()
        for record in try await list.all() {
            announcements.drop(record.id)
            await remove(record.id)
        }
    }

    /// Starts the transfers that wait for a new token or a readable store. Call it when the app comes to the
    /// foreground. A sign-in has the same effect, and so has any other call that refreshes the token.
    public func resume() async {
        guard await session() != nil else { return }
        await settle()
    }

    /// Waits until all events for which the system has launched or woken the app are handled and their follow-up work
    /// has started, but no longer than 25 s.
    ///
    /// For SwiftUI: `.backgroundTask(.urlSession(identifier)) { await transfers.handleEvents() }`.
    public func handleEvents() async {
        // The system may never report the end of the events, for example if the list of transfers cannot be read before
        // the device is unlocked, so that there is no session yet.
        _ = await limits.run(within: Self.longestHandling) { [handledEvents] in await handledEvents.wait() }
    }

    /// Calls the completion handler of `application(_:handleEventsForBackgroundURLSession:completionHandler:)` on the
    /// main thread, when all events for which the system has launched or woken the app are handled and their follow-up
    /// work has started, and after 25 s at the latest.
    /// - Parameters:
    ///   - identifier: The identifier of the session that the system names.
    ///   - completionHandler: The handler of the system.
    /// - Returns: `false` if the session is not this one. In that case, the handler is not called: pass it to the owner
    ///   of that session, or call it.
    @MainActor public func handleEvents(
        for identifier: String, completionHandler: @escaping () -> Void
    ) -> Bool {
        guard identifier == self.identifier else { return false }
        Task {
            await handleEvents()
            completionHandler()
        }
        return true
    }

    // MARK: - New transfers

    /// Uploads the body of an endpoint. It is first written to a private file, which is deleted when the transfer has
    /// ended.
    /// - Parameters:
    ///   - endpoint: The endpoint. Its ``/Martlet/Endpoint/timeout`` does not apply.
    ///   - id: Identifies the transfer. If there is one with this ID already, nothing is started. Choose and store the
    ///     ID yourself if the app must know after a crash whether the transfer has begun.
    /// - Returns: The ID.
    /// - Throws: ``/Martlet/NetworkError`` if there is no token, or if the request or a file is not valid. Nothing has
    ///   begun then.
    @discardableResult
    public func upload(_ endpoint: any Endpoint, id: UUID = UUID()) async throws(NetworkError) -> UUID {
        try await begin(NewTransfer(id: id, kind: .upload, endpoint: endpoint, body: endpoint.body, path: nil))
    }

    /// Uploads a file. It must stay unchanged until the transfer has ended.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - endpoint: The endpoint. Its ``/Martlet/Endpoint/body`` and ``/Martlet/Endpoint/timeout`` do not apply.
    ///   - id: Identifies the transfer. If there is one with this ID already, nothing is started.
    /// - Returns: The ID.
    /// - Throws: ``/Martlet/NetworkError`` if there is no token, or if the request or the file is not valid. Nothing
    ///   has begun then.
    @discardableResult
    public func upload(
        fileAt path: String, to endpoint: any Endpoint, id: UUID = UUID()
    ) async throws(NetworkError) -> UUID {
        try await begin(NewTransfer(id: id, kind: .upload, endpoint: endpoint, body: .file(at: path), path: path))
    }

    /// Downloads the response of an endpoint to a file, which replaces an existing one.
    /// - Parameters:
    ///   - endpoint: The endpoint. Its ``/Martlet/Endpoint/body`` and ``/Martlet/Endpoint/timeout`` do not apply.
    ///   - path: The path of the new file. Its folder must exist.
    ///   - id: Identifies the transfer. If there is one with this ID already, nothing is started.
    /// - Returns: The ID.
    /// - Throws: ``/Martlet/NetworkError`` if there is no token, or if the request or the folder is not valid. Nothing
    ///   has begun then.
    @discardableResult
    public func download(
        _ endpoint: any Endpoint, to path: String, id: UUID = UUID()
    ) async throws(NetworkError) -> UUID {
        try await begin(NewTransfer(id: id, kind: .download, endpoint: endpoint, body: nil, path: path))
    }

    private func begin(_ new: NewTransfer) async throws(NetworkError) -> UUID {
        var transfer = new
        transfer.removals = state.withLock(\.removals)
        // Even a transfer whose endpoint needs no session has an owner: its result belongs to the user who is signed in
        // now.
        let owner = client.tokens?.currentOwner ?? .unbound
        let id = transfer.id
        var call = CallDescription(unsent: transfer.endpoint)
        do {
            let session = try await launched()
            guard state.withLock({ $0.starting.insert(id).inserted }) else { return id }
            defer { endStart(of: id) }
            guard await settler.makeWay(for: id, in: session) else { return id }
            let request = try await client.unsentRequest(for: transfer.endpoint, body: transfer.body)
            call = request.call
            try await transfer.check()
            do {
                try await start(transfer, with: request, as: owner, in: session)
            } catch {
                await settler.discard(id) { session }
                throw error
            }
            return id
        } catch let error as StorageError {
            throw .storageUnavailable(call, error)
        } catch let error as BackgroundTransferError {
            throw .invalidRequest(call, reason: error.description)
        } catch {
            throw NetworkError(wrapping: error, call: call)
        }
    }

    private func start(
        _ transfer: NewTransfer, with unsent: UnsentRequest, as owner: CallOwner, in session: BackgroundSession
    ) async throws {
        await list.makeWay(for: transfer.id)
        if transfer.path == nil { try await transfer.keepBody(unsent.openBody(), in: folder) }
        var request = unsent.head
        // The system sends the body without asking the server first.
        request.headerFields[.expect] = nil
        let authorization = try await attempts.authorize(
            &request, transfer.endpoint.authentication, at: unsent.origin, as: owner)
        let record = TransferRecord(
            of: transfer, unsent, authorization, path: transfer.path.map { folder.portable($0) })
        announcements.ownNew(record.id)
        try await list.add(record)
        guard state.withLock(\.removals) == transfer.removals else { throw CancellationError() }
        guard try await attempts.start(record, request, authorization.stamp, in: session) else {
            throw CancellationError()
        }
    }

    private func endStart(of id: UUID) {
        _ = state.withLock { $0.starting.remove(id) }
        // The session may have ended since.
        requestSettlement()
    }

    // MARK: - The launch

    /// The session, or `nil` if the list cannot be read now.
    func session() async -> BackgroundSession? {
        try? await launched()
    }

    /// The session, which is created once.
    private func launched() async throws -> BackgroundSession {
        let launch = state.withLock { state in
            if let launch = state.launch { return launch }
            let launch = Task { try await self.launch() }
            state.launch = launch
            return launch
        }
        do {
            return try await launch.value
        } catch {
            // Before the device is unlocked for the first time, the list cannot be read.
            state.withLock { state in
                if state.launch == launch { state.launch = nil }
            }
            throw error
        }
    }

    /// Reads the list, then creates the session, which delivers the events of the tasks that ended while the app was
    /// not running.
    private func launch() async throws -> BackgroundSession {
        _ = try await list.all()
        let session = await BlockingQueue.run { self.makeSession(self) }
        if await lostTasks.find(among: session.tasks()) {
            let time = client.time
            Task { [weak self] in
                guard (try? await time.sleep(until: time.uptime + Self.patience)) != nil else { return }
                await self?.giveUpLostTasks()
            }
        }
        if let states = client.tokens?.states {
            let watch = Task { [weak self] in
                for await _ in states { self?.requestSettlement() }
            }
            state.withLock { $0.watch = watch }
        }
        requestSettlement()
        return session
    }

    private func giveUpLostTasks() async {
        if await lostTasks.giveUp() { requestSettlement() }
    }

    // MARK: - Events of the system

    /// The system has downloaded a response, and deletes the file when the method returns.
    func systemDidDownload(_ end: BackgroundTask.End, to file: String) {
        if ends.noteDownload(end, at: file) { requestSettlement() }
    }

    /// A task has ended.
    func systemDidEnd(_ end: BackgroundTask.End) {
        if ends.note(end) { requestSettlement() }
    }

    /// The system has delivered the events for which it has launched or woken the app.
    func systemDidDeliverEvents() {
        Task {
            _ = await session()
            await giveUpLostTasks()
            _ = await limits.run(within: Self.longestHandling) { await self.settle() }
            handledEvents.report()
        }
    }

    /// Ends all transfers of sessions whose user has gone. It is called during the change of user, so that the
    /// transfers stay ended even if the same user signs in again before the next settlement.
    private func userHasGone(endOf sessions: Set<SessionID>) {
        announcements.end(with: sessions)
        requestSettlement()
    }

    // MARK: - Settlements

    /// Settles after the current work, without waiting.
    private func requestSettlement() {
        Task { [weak self] in await self?.settle() }
    }

    /// Settles all transfers one after another, so that they share a refresh if they need one.
    private func settle() async {
        await settlements.run { await self.settleAll() }
    }

    private func settleAll() async {
        guard let session = await session(), let records = try? await list.all() else { return }
        await list.retryRemovals()
        for record in records where !state.withLock({ $0.starting.contains(record.id) }) {
            // If the disk is full, the next settlement tries again.
            try? await settler.settle(record, in: session)
        }
    }

    /// Makes the next settlement wait for a task, for tests.
    func holdSettlements(until task: Task<Void, Never>) {
        settlements.hold(until: task)
    }
}
