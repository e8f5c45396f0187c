// https://developer.apple.com/documentation/photosui/phpickerfilter-swift.struct
public struct PHPickerFilter: Equatable, Hashable {
    public static var images: PHPickerFilter { fatalError() }
}
