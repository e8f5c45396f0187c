#if canImport(SwiftUI)
    #if !os(tvOS)
        internal import PhotosUI
    #endif
    public import SwiftUI
    #if canImport(UIKit)
        internal import UIKit
    #endif

    /// A guest's login: a name, perhaps a picture, how far it has got, and what went wrong.
    ///
    /// ```swift
    /// @StateObject private var login = GuestLoginViewModel(client)
    ///
    /// var body: some View {
    ///     GuestLoginForm(login)
    /// }
    /// ```
    ///
    /// It grows with the person's text size, names each field to VoiceOver and has it read out what went wrong.
    public struct GuestLoginForm: View {
        private let login: any GuestLoginFace

        /// A form over a view model.
        public init(_ login: GuestLoginViewModel) {
            self.login = login
        }

        /// A form over an observable model.
        @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
        public init(_ login: GuestLoginModel) {
            self.login = login
        }

        /// The form.
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

    private struct GuestLoginFields: View {
        let login: any GuestLoginFace
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
                        Button(Wording.cancel.text(), role: .cancel) { login.cancelRegistration() }
                    } else {
                        Button(Wording.continueAsGuest.text()) { login.registerGuest() }
                            .disabled(isLoadingPicture)
                    }
                }
            }
            #if !os(tvOS)
                .loads($choice, into: login, telling: $isLoadingPicture)
            #endif
            .task(id: state.failures) {
                if let text = state.errorText { announce(text) }
            }
        }

        private var name: Binding<String> {
            Binding(get: { @MainActor in login.userName }, set: { @MainActor in login.userName = $0 })
        }

        private var nameField: some View {
            TextField(Wording.name.text(), text: name)
                .accessibilityHint(Wording.nameHint.text())
                .submitLabel(.go)
                .onSubmit { if !isLoadingPicture { login.registerGuest() } }
                #if os(iOS) || os(visionOS)
                    .textContentType(.name)
                #endif
        }
    }
#endif
