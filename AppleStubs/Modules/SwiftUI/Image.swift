#if os(macOS)
    public import AppKit
#else
    public import UIKit
#endif

// https://developer.apple.com/documentation/swiftui/image
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct Image: View, Equatable, Sendable {
    public nonisolated init(systemName: String) { fatalError() }
    #if os(macOS)
        public nonisolated init(nsImage: NSImage) { fatalError() }
    #else
        public nonisolated init(uiImage: UIImage) { fatalError() }
    #endif
    public nonisolated func resizable() -> Image { fatalError() }
    public var body: Never { fatalError() }
    public nonisolated static func == (one: Image, other: Image) -> Bool { fatalError() }
}
