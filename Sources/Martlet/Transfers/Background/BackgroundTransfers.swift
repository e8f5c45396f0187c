#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Uploads and downloads that the system continues while the app is suspended or not running, on Apple's platforms.
///
/// Create one when the app is launched, before the delegate of the app returns, and keep it:
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
/// (``AuthenticationRequirement/none``). Before it starts, a token that would soon expire is refreshed
/// (``BackgroundTransferOptions/minimumTokenLifetime``). If the server still rejects the token, the transfer starts
/// again with a new one, at most once for each token, even after another launch of the app. When the user signs out or
/// another one signs in, the transfer and its result are deleted. A transfer that was started while no user was signed
/// in, or by a client without a ``TokenManager``, belongs to no user and ends with none.
///
/// The client's interceptors, retries, cookies and cache do not apply, because the app may not be running.
/// <doc:TransfersInTheBackground> has the details.
public final class BackgroundTransfers: Sendable {
    /// The state of the transfers, as far as this process knows it.
    struct State {
        /// The launch that is under way or has succeeded.
        var launch: Task<BackgroundSession, any Error>?
        /// The transfers whose first attempt is being started.
        var starting: Set<UUID> = []
        /// The announcements that the app has received, or will receive when it subscribes.
        var announced: [UUID: TransferAnnouncement] = [:]
        var events = Broadcast<TransferAnnouncement>()
        /// The transfers that belonged to the current user at some time in this process.
        var owned: Set<UUID> = []
        /// The transfers whose end with their owner is known. None of them comes back, even if the same user does.
        var ended: Set<UUID> = []
        /// The sessions that have ended for good in this process.
        var endedSessions: Set<SessionID> = []
        /// Ends the notification of these ends.
        var stopFollowing: (@Sendable () -> Void)?
        /// The attempts without a task at the launch. Their ends may still arrive.
        var missing: Set<BackgroundTask.Name> = []
        /// The resume data that the system gave for interrupted downloads. It contains tokens, so it is never stored.
        var resumeData: [UUID: Data] = [:]
        /// The settlement that runs, and the one after it.
        var settling: Task<Void, Never>?
        var nextSettling: Task<Void, Never>?
        /// Whether the system has delivered all events, and the tasks that wait for that.
        var hasDeliveredEvents = false
        var waiting: [UUID: CheckedContinuation<Void, Never>] = [:]
        /// Follows the state of the session.
        var watch: Task<Void, Never>?
    }

    /// The identifiers of this process. The system does not define what two sessions with one identifier do.
    private static let identifiers = Locked<Set<String>>([])

    let identifier: String
    let client: NetworkClient
    let options: BackgroundTransferOptions
    let list: TransferList
    /// Replaced in paths that are stored.
    let home: String
    let makeSession: @Sendable (BackgroundTransfers) -> BackgroundSession
    let limits: TimeLimits
    let state = Locked(State())

    /// - Parameters:
    ///   - home: The folder of the user, or the container of the app.
    ///   - steps: Reports each step to a test.
    ///   - makeSession: Creates the system's side, when the list has been read.
    init(
        identifier: String, client: NetworkClient, options: BackgroundTransferOptions, home: String? = nil,
        steps: TransferSteps = TransferSteps(),
        makeSession: @escaping @Sendable (BackgroundTransfers) -> BackgroundSession
    ) throws(BackgroundTransferError) {
        guard Self.identifiers.withLock({ $0.insert(identifier).inserted }) else { throw .identifierInUse(identifier) }
        self.identifier = identifier
        self.client = client
        self.options = options
        self.home = home ?? ProcessInfo.processInfo.environment["HOME"] ?? ""
        let folder = options.folder ?? Disk.stateFolder(of: identifier) + "/transfers"
        list = TransferList(TransferFolder(path: folder, steps: steps))
        limits = TimeLimits(time: client.pipeline.time)
        self.makeSession = makeSession
        let stop = client.tokens?.onDeparture { [weak self] in self?.userHasGone(endOf: $0) }
        state.withLock { $0.stopFollowing = stop }
        Task { [weak self] in _ = try? await self?.launched() }
    }

    deinit {
        _ = Self.identifiers.withLock { $0.remove(identifier) }
        let (listeners, stop) = state.withLock { state in
            state.watch?.cancel()
            return (state.events.finish(), state.stopFollowing)
        }
        stop?()
        listeners.wake()
    }

    /// The transfers that the app has not removed, in no particular order.
    /// - Throws: ``StorageError`` if the list cannot be read, for example before the device was unlocked for the first
    ///   time.
    public var transfers: [BackgroundTransfer] {
        get async throws(StorageError) {
            _ = await session()
            return await shown(try await list.all())
        }
    }

    /// Each transfer that has ended or waits for a sign-in, then every further one.
    ///
    /// A transfer that has ended is kept, and is in the events of the next launch too, until ``remove(_:)`` is called:
    /// the app may be killed before it has dealt with the result. Only the end of its session removes it as well.
    ///
    /// After a sign-out, or the sign-in of another user, a subscriber receives nothing more of the former user's transfers
    /// but the end of those that were not finished (``BackgroundTransferError/sessionEnded``), and only if it had
    /// subscribed before.
    public var events: AsyncStream<BackgroundTransfer> {
        let tokens = client.tokens
        reportEnds(in: tokens?.state)
        let announcements = state.withLock { state in
            state.events.subscribe(first: Array(state.announced.values), buffering: { $0.append($1) })
        }
        return AsyncStream { [state] in
            for await announcement in announcements {
                guard await announcement.isDue(in: tokens) else { continue }
                let isOver = !announcement.isEnd && state.withLock { $0.hasEnded(announcement.record) }
                if !isOver { return announcement.transfer }
            }
            return nil
        }
    }

    /// Forgets a transfer. One that is under way is cancelled. A downloaded file stays at its path.
    ///
    /// If the transfer's record cannot be deleted from the disk, it is emptied. If that fails too, the deletion is tried
    /// again later, and this process no longer announces the transfer.
    public func remove(_ id: UUID) async {
        await discard(id)
        state.withLock { state in state.announced[id] = nil }
    }

    /// Starts the transfers that wait for a new token or a readable store. Call it when the app comes to the
    /// foreground. A sign-in, and any other call that refreshes the token, do the same.
    public func resume() async {
        guard await session() != nil else { return }
        await settle()
    }

    /// Waits until all events for which the system has launched or woken the app are handled and their follow-up work
    /// has started.
    ///
    /// For SwiftUI: `.backgroundTask(.urlSession(identifier)) { await transfers.handleEvents() }`.
    public func handleEvents() async {
        let id = UUID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    guard !state.hasDeliveredEvents, !Task.isCancelled else {
                        // The next events have a completion handler of their own.
                        state.hasDeliveredEvents = false
                        return true
                    }
                    state.waiting[id] = continuation
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }

    /// Calls the completion handler of `application(_:handleEventsForBackgroundURLSession:completionHandler:)` on the main
    /// thread, when all events for which the system has launched or woken the app are handled and their follow-up work
    /// has started.
    @MainActor public func handleEvents(completionHandler: @escaping () -> Void) {
        Task {
            await handleEvents()
            completionHandler()
        }
    }
}
