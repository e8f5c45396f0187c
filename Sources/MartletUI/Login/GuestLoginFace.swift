internal import MartletImages

/// What views ask of a guest's login, by whichever face it has.
@MainActor protocol GuestLoginFace: AnyObject, Sendable {
    var state: GuestLoginState { get }
    var userName: String { get set }
    var selectedImage: ImageSource? { get set }
    func imageFailed()
    @discardableResult func registerGuest() -> Task<Void, Never>
    func cancelRegistration()
    @discardableResult func logout() -> Task<Void, Never>
    func run() async
}

@available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
extension GuestLoginModel: GuestLoginFace {}

#if canImport(Combine) || OpenCombine
    extension GuestLoginViewModel: GuestLoginFace {}
#endif
