public import CoreTransferable
@_exported public import PhotosUI
public import SwiftUI

// Apple declares these types in a module that the compiler imports by itself where a file imports both PhotosUI and
// SwiftUI.

// https://developer.apple.com/documentation/photosui/photospickeritem
@available(iOS 16, macOS 13, watchOS 9, visionOS 1, *)
public struct PhotosPickerItem: Equatable, Hashable, Sendable {
    public struct EncodingDisambiguationPolicy: Equatable, Hashable, Sendable {
        public static var automatic: EncodingDisambiguationPolicy { fatalError() }
        public static var current: EncodingDisambiguationPolicy { fatalError() }
        public static var compatible: EncodingDisambiguationPolicy { fatalError() }
    }

    public func loadTransferable<T: Transferable>(type: T.Type) async throws -> T? { fatalError() }
}

// https://developer.apple.com/documentation/photosui/photospicker
@available(iOS 16, macOS 13, watchOS 9, visionOS 1, *)
@MainActor @preconcurrency public struct PhotosPicker<Label: View>: View {
    public var body: some View { EmptyView() }

    public nonisolated init(
        selection: Binding<PhotosPickerItem?>, matching filter: PHPickerFilter? = nil,
        preferredItemEncoding: PhotosPickerItem.EncodingDisambiguationPolicy = .automatic,
        @ViewBuilder label: () -> Label
    ) { fatalError() }
}
