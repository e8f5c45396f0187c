/// A request slot that is released with the last reference to it, for a response body that is read after its call.
final class RequestSlot: Sendable {
    private let release: @Sendable () -> Void

    init(_ release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    deinit { release() }
}
