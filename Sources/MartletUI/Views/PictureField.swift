#if canImport(SwiftUI) && canImport(PhotosUI) && !os(tvOS)
    internal import CoreTransferable
    internal import Foundation
    internal import MartletImages
    internal import PhotosUI
    internal import SwiftUI

    /// Lets a person choose a picture, shows it, and takes it away again, also while it is being loaded.
    struct PictureField: View {
        let login: any GuestLoginFace
        let image: ImageSource?
        /// What was chosen, until it has been loaded.
        @Binding var choice: PhotosPickerItem?
        let isLoading: Bool

        var body: some View {
            HStack {
                if let image { PicturePreview(source: image) }
                PhotosPicker(selection: $choice, matching: .images) {
                    Label(
                        (image == nil ? Wording.choosePicture : Wording.changePicture).text(), systemImage: "photo")
                }
                if isLoading {
                    ProgressView().accessibilityLabel(Wording.loading.text())
                }
            }
            .accessibilityElement(children: .contain)
            .accessibilityLabel(Wording.picture.text())
            if image != nil || isLoading {
                Button(Wording.removePicture.text(), role: .destructive) {
                    choice = nil
                    login.selectedImage = nil
                }
            }
        }
    }

    extension View {
        /// Loads what is chosen in a ``PictureField``. It belongs on what stays on the screen: a row of a list goes when it is
        /// scrolled away, and would take the loading along.
        func loads(
            _ choice: Binding<PhotosPickerItem?>, into login: any GuestLoginFace, telling isLoading: Binding<Bool>
        ) -> some View {
            task(id: choice.wrappedValue) {
                guard let item = choice.wrappedValue else {
                    // Taken away, perhaps while it was being loaded; or used up below.
                    isLoading.wrappedValue = false
                    return
                }
                isLoading.wrappedValue = true
                let bytes = try? await item.loadTransferable(type: Data.self)
                // Another one was chosen meanwhile, and is being loaded.
                guard !Task.isCancelled else { return }
                isLoading.wrappedValue = false
                if let bytes {
                    login.selectedImage = .data(bytes)
                } else {
                    login.imageFailed()
                }
                // Used up: the form coming back does not load it again, and the same one can be chosen after a failure.
                choice.wrappedValue = nil
            }
        }
    }
#endif
