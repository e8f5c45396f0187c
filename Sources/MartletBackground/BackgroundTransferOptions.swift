/// The options by which the system performs the transfers of ``BackgroundTransfers``.
public struct BackgroundTransferOptions: Sendable, Hashable {
    /// The shortest time for which a token must still be valid when a transfer starts. It is refreshed first if it
    /// would expire before, because the app may not be running when the server rejects it. Default 15 minutes.
    public var minimumTokenLifetime: Duration = .seconds(15 * 60)
    /// Whether the system chooses the time of the transfers, for example when the device has power and Wi-Fi. Default no.
    public var isDiscretionary = false
    /// Whether the system launches the app, or wakes it, when transfers have ended. Default yes. If no, the app learns
    /// of them at its next launch.
    public var sendsLaunchEvents = true
    /// The app group whose container the system downloads to. An app extension must set it. An app sets it, too, if
    /// its files are in that container: the system may move the container, and stored paths then follow it.
    public var sharedContainerIdentifier: String?
    /// The folder of the list of transfers and of the bodies that they send, which must stay the same. `nil` is a
    /// folder of the app that has the name of the identifier. Extensions need one in the container of the app group.
    public var folder: String?

    /// Creates the default options.
    public init() {}
}
