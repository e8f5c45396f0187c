#if canImport(SwiftUI)
    internal import MartletImages
    internal import SwiftUI

    #if canImport(UIKit)
        internal import UIKit
    #else
        internal import AppKit
    #endif

    /// A small round preview of a picture of any size.
    struct PicturePreview: View {
        let source: ImageSource
        @State private var picture: PreparedImage?
        @ScaledMetric private var side = 64.0

        var body: some View {
            ZStack {
                if let image = picture.flatMap({ Image($0) }) {
                    image.resizable().scaledToFill()
                } else {
                    Image(systemName: "photo").foregroundStyle(.secondary)
                }
            }
            .frame(width: side, height: side)
            .clipShape(Circle())
            .accessibilityElement(children: .ignore)
            .accessibilityLabel(Wording.pictureChosen.text)
            .accessibilityAddTraits(.isImage)
            .task(id: source) {
                var options = ImageProcessor.Options()
                options.bounds = PixelSize(width: 256, height: 256)
                // A picture that cannot be decoded is reported when the user submits the form.
                let prepared = try? await ImageProcessor(options).prepare(source)
                // The task of an earlier picture may end after that of the next one.
                if !Task.isCancelled { picture = prepared }
            }
        }
    }

    extension Image {
        fileprivate init?(_ picture: PreparedImage) {
            #if canImport(UIKit)
                guard let image = UIImage(data: picture.data) else { return nil }
                self.init(uiImage: image)
            #else
                guard let image = NSImage(data: picture.data) else { return nil }
                self.init(nsImage: image)
            #endif
        }
    }
#endif
