// A file that imports PhotosUI, but not SwiftUI, does not see PhotosUI's views.

internal import PhotosUI

func choice() -> PHPickerFilter {
    .images
}

func item() -> PhotosPickerItem? { nil }  // mistake: cannot find type 'PhotosPickerItem' in scope
