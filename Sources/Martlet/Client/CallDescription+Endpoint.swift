extension CallDescription {
    /// Describes a call that failed before it was sent.
    init(unsent endpoint: any Endpoint) {
        self.init(method: endpoint.method.rawValue, url: endpoint.path.text, attempts: 0)
    }
}
