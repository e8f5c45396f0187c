#if canImport(SwiftUI) && canImport(PhotosUI) && !os(tvOS)
    internal import CoreTransferable
    internal import Foundation
    internal import MartletImages
    internal import PhotosUI
    internal import SwiftUI

    /// Lets the user choose a picture, see it, and remove it, even while it is loading.
    struct PictureField: View {
        let login: any GuestLogin
        let image: ImageSource?
        /// The picker's selection, until its data has been loaded.
        @Binding var choice: PhotosPickerItem?
        let isLoading: Bool

        var body: some View {
            HStack {
                if let image { PicturePreview(source: image) }
                // The library prepares the picture itself, so that the system need not convert it first.
                PhotosPicker(selection: $choice, matching: .images, preferredItemEncoding: .current) {
                    Label(
                        (image == nil ? Wording.choosePicture : Wording.changePicture).text, systemImage: "photo")
                }
                if isLoading {
                    ProgressView().accessibilityLabel(Wording.loading.text)
                }
            }
            .accessibilityElement(children: .contain)
            .accessibilityLabel(Wording.picture.text)
            if image != nil || isLoading {
                Button(Wording.removePicture.text, role: .destructive) {
                    choice = nil
                    login.selectedImage = nil
                }
            }
        }
    }

    extension View {
        /// Loads the picture chosen in a ``PictureField``. Apply it to a view that stays on screen: a list row
        /// disappears when it scrolls away, and that would cancel the task.
        func loads(
            _ choice: Binding<PhotosPickerItem?>, into login: any GuestLogin, isLoading: Binding<Bool>
        ) -> some View {
            task(id: choice.wrappedValue) {
                guard let item = choice.wrappedValue else {
                    // The user removed the picture, or the code below has consumed the selection.
                    isLoading.wrappedValue = false
                    return
                }
                isLoading.wrappedValue = true
                let bytes = try? await item.loadTransferable(type: Data.self)
                // The user chose another picture, which another task is loading.
                guard !Task.isCancelled else { return }
                isLoading.wrappedValue = false
                if let bytes {
                    login.selectedImage = .data(bytes)
                } else {
                    login.discardUnreadableImage()
                }
                // Clear the selection, so that a form that reappears does not load it again and so that the user can
                // choose the same picture again after a failure.
                choice.wrappedValue = nil
            }
        }
    }
#endif
