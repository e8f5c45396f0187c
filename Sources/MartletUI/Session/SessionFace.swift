/// What views ask of a session, by whichever face it has.
@MainActor protocol SessionFace: AnyObject, Sendable {
    var status: SessionStatus { get }
    func run() async
    @discardableResult func retry() -> Task<Void, Never>
    @discardableResult func signOut() -> Task<Void, Never>
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension SessionModel: SessionFace {}

#if canImport(Combine) || OpenCombine
    extension SessionViewModel: SessionFace {}
#endif
