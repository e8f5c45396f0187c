#if canImport(SwiftUI) && DEBUG
    internal import Martlet
    internal import MartletGuests
    internal import SwiftUI

    // Providers instead of the macro `#Preview`, whose plug-in only Xcode has: with the command line tools alone, a
    // package that uses it does not build.

    /// The screens of a session.
    struct SignedInGatePreviews: PreviewProvider {
        static var previews: some View {
            gate(.loading).previewDisplayName("Loading")
            gate(.signedOut).previewDisplayName("Login")
            gate(.signedIn(SignedInSession(id: SessionID(rawValue: "1")))).previewDisplayName("Content")
            gate(.expired(.refreshTokenRejected(code: nil))).previewDisplayName("Sign in again")
            gate(.unavailable(StorageError(.locked, "locked"))).previewDisplayName("Locked")
            gate(.unavailable(StorageError(.unreachable, "unreachable"))).previewDisplayName("Unavailable")
            gate(.unreadable(StorageError(.corrupt, "damaged"))).previewDisplayName("Unreadable")
        }

        private static func gate(_ state: SessionState) -> some View {
            SignedInGate(SessionViewModel(SessionSource(state: { state }))) { _ in
                Text("Content")
            } login: {
                GuestLoginForm(GuestLoginFormPreviews.login())
            }
        }
    }

    /// The login: empty, with an error, and while it registers a guest.
    struct GuestLoginFormPreviews: PreviewProvider {
        static var previews: some View {
            GuestLoginForm(login()).previewDisplayName("Empty")
            GuestLoginForm(login(isSubmitted: true)).previewDisplayName("Name missing")
            GuestLoginForm(login(name: "Ada", isSubmitted: true)).previewDisplayName("Registering")
        }

        static func login(name: String = "", isSubmitted: Bool = false) -> GuestLoginViewModel {
            let registration = GuestRegistration { name, _, _ throws(NetworkError) in
                // The server takes its time.
                try? await Task.sleep(for: .seconds(3600))
                return Guest(id: "1", name: name)
            }
            let login = GuestLoginViewModel(registration)
            login.userName = name
            if isSubmitted { login.registerGuest() }
            return login
        }
    }

    /// The progress of an upload.
    struct UploadProgressViewPreviews: PreviewProvider {
        static var previews: some View {
            UploadProgressView(UploadProgress()).previewDisplayName("Preparing")
            UploadProgressView(UploadProgress(attempt: 1, sent: half)).previewDisplayName("Sending")
            UploadProgressView(UploadProgress(attempt: 2, sent: half)).previewDisplayName("Sending again")
        }

        private static let half = TransferCount(completed: 50, total: 100)
    }
#endif
