/// Tells whether the device has a network.
///
/// A client asks it only after a request could not leave the device, and not before: a network that seems to be there
/// may not reach the server, and a server in the local network needs no route to the internet. `MartletTesting` has a
/// monitor that a test controls.
public protocol ConnectivityMonitor: Sendable {
    /// Whether the device has a network: the current state as soon as it is known, then every change.
    var updates: AsyncStream<Bool> { get }
}
