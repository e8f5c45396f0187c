#if canImport(SwiftUI) && canImport(PhotosUI) && !os(tvOS)
    internal import CoreTransferable
    internal import Foundation
    internal import MartletImages
    internal import PhotosUI
    internal import SwiftUI

    /// Lets a person choose a picture, shows it, and takes it away again.
    struct PictureField: View {
        let login: any GuestLoginFace
        let image: ImageSource?
        @Binding var isLoading: Bool
        @State private var item: PhotosPickerItem?

        var body: some View {
            HStack {
                if let image { PicturePreview(source: image) }
                PhotosPicker(selection: $item, matching: .images) {
                    Label(
                        (image == nil ? Wording.choosePicture : Wording.changePicture).text(), systemImage: "photo")
                }
                if isLoading {
                    ProgressView().accessibilityLabel(Wording.loading.text())
                }
            }
            .accessibilityElement(children: .contain)
            .accessibilityLabel(Wording.picture.text())
            .task(id: item) { await load() }
            if image != nil {
                Button(Wording.removePicture.text(), role: .destructive) {
                    item = nil
                    login.selectedImage = nil
                }
            }
        }

        private func load() async {
            guard let item else {
                // Taken away, perhaps while it was being loaded; or used up below.
                isLoading = false
                return
            }
            isLoading = true
            let bytes = try? await item.loadTransferable(type: Data.self)
            // Another one was chosen meanwhile, and is being loaded.
            guard !Task.isCancelled else { return }
            isLoading = false
            if let bytes {
                login.selectedImage = .data(bytes)
            } else {
                login.imageFailed()
            }
            // Used up: the row coming back does not load it again, and the same one can be chosen after a failure.
            self.item = nil
        }
    }
#endif
