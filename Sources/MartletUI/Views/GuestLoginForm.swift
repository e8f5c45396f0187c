#if canImport(SwiftUI)
    #if !os(tvOS)
        internal import PhotosUI
    #endif
    public import SwiftUI
    #if canImport(UIKit)
        internal import UIKit
    #endif

    /// A login form for guests, with a name, an optional picture, upload progress and error messages.
    ///
    /// ```swift
    /// @StateObject private var login = GuestLoginViewModel(client)
    ///
    /// var body: some View {
    ///     GuestLoginForm(login)
    /// }
    /// ```
    ///
    /// The form supports Dynamic Type. VoiceOver reads a label for each field and announces errors.
    public struct GuestLoginForm: View {
        private let login: any GuestLogin

        /// Creates a form for a ``GuestLoginModel`` or a ``GuestLoginViewModel``.
        public init(_ login: any GuestLogin) {
            self.login = login
        }

        /// The form's content.
        public var body: some View {
            Group {
                if let model = login as? GuestLoginViewModel {
                    Observing(model) { fields }
                } else {
                    fields
                }
            }
            .task(id: ObjectIdentifier(login)) { await login.run() }
        }

        private var fields: some View {
            GuestLoginFields(login: login, state: login.state)
        }
    }

    /// The fields and buttons of the form, for one state of the login.
    private struct GuestLoginFields: View {
        let login: any GuestLogin
        let state: GuestLoginState
        @State private var isLoadingPicture = false
        #if !os(tvOS)
            @State private var choice: PhotosPickerItem?
        #endif

        var body: some View {
            Form {
                Section {
                    nameField
                    #if !os(tvOS)
                        PictureField(
                            login: login, image: state.selectedImage, choice: $choice, isLoading: isLoadingPicture)
                    #endif
                }
                .disabled(state.isRegistering)
                Section {
                    if let text = state.errorText {
                        Label(text, systemImage: "exclamationmark.triangle")
                            .foregroundStyle(.red)
                            .accessibilityElement(children: .combine)
                    }
                    if let progress = state.progress {
                        UploadProgressView(progress)
                        Button(Wording.cancel.text, role: .cancel) { login.cancelRegistration() }
                    } else {
                        Button(Wording.continueAsGuest.text) { login.registerGuest() }
                            .disabled(isLoadingPicture)
                    }
                }
            }
            #if !os(tvOS)
                .loads($choice, into: login, isLoading: $isLoadingPicture)
            #endif
            .task(id: state.failures) {
                if let text = state.errorText { await Announcer.system.announce(text) }
            }
        }

        private var name: Binding<String> {
            Binding(get: { @MainActor in login.userName }, set: { @MainActor in login.userName = $0 })
        }

        private var nameField: some View {
            TextField(Wording.name.text, text: name)
                .accessibilityHint(Wording.nameHint.text)
                .submitLabel(.go)
                .onSubmit { if !isLoadingPicture { login.registerGuest() } }
                #if os(iOS) || os(visionOS)
                    .textContentType(.name)
                #endif
        }
    }
#endif
