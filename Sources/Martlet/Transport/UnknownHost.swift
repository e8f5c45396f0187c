extension TransportError {
    /// The error for a host whose name cannot be resolved. A device without a network cannot resolve any name.
    /// - Parameter hasNetwork: Whether the device may have a network.
    static func unknownHost(_ host: String, hasNetwork: Bool = DefaultRoutes.mayExist) -> TransportError {
        hasNetwork ? .cannotConnect("unknown host \(host)") : .offline
    }
}
