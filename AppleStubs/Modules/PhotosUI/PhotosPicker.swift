public import CoreTransferable
public import SwiftUI

// https://developer.apple.com/documentation/photosui/phpickerfilter-swift.struct
public struct PHPickerFilter: Equatable, Hashable {
    public static var images: PHPickerFilter { fatalError() }
}

// https://developer.apple.com/documentation/photosui/photospickeritem
public struct PhotosPickerItem: Equatable, Hashable, Sendable {
    public struct EncodingDisambiguationPolicy: Equatable, Hashable, Sendable {
        public static var automatic: EncodingDisambiguationPolicy { fatalError() }
    }

    public func loadTransferable<T: Transferable>(type: T.Type) async throws -> T? { fatalError() }
}

// https://developer.apple.com/documentation/photosui/photospicker
@MainActor @preconcurrency public struct PhotosPicker<Label: View>: View {
    public var body: some View { EmptyView() }

    public nonisolated init(
        selection: Binding<PhotosPickerItem?>, matching filter: PHPickerFilter? = nil,
        preferredItemEncoding: PhotosPickerItem.EncodingDisambiguationPolicy = .automatic,
        @ViewBuilder label: () -> Label
    ) { fatalError() }
}
