// https://developer.apple.com/documentation/photosui/phpickerfilter-swift.struct
@available(iOS 14, macOS 13, watchOS 9, visionOS 1, *)
public struct PHPickerFilter: Equatable, Hashable {
    public static var images: PHPickerFilter { fatalError() }
}
