/// The options for the transfers of ``BackgroundTransfers``.
public struct BackgroundTransferOptions: Sendable, Hashable {
    /// The minimum remaining lifetime of a token when a transfer starts. A token that would expire earlier is refreshed
    /// first, because the app may not be running when the server rejects it. The default is 15 minutes.
    public var minimumTokenLifetime: Duration = .seconds(15 * 60)
    /// Whether the system chooses the time of the transfers, for example when the device has power and Wi-Fi. The
    /// default is `false`.
    public var isDiscretionary = false
    /// Whether the system launches or wakes the app when transfers have ended. The default is `true`. If `false`, the
    /// app learns of them at its next launch.
    public var sendsLaunchEvents = true
    /// The app group whose container the system downloads to. An app extension must set it. An app must set it too if
    /// its files are in that container: the system may move the container, and stored paths then follow it.
    public var sharedContainerIdentifier: String?
    /// The folder for the list of transfers and the bodies that they send. It must be the same at each launch. `nil`
    /// stands for a folder of the app that is named after the identifier. An extension needs a folder in the container
    /// of the app group.
    public var folder: String?

    /// Creates the default options.
    public init() {}
}
