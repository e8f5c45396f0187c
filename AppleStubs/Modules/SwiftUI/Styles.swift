public import CoreGraphics

// https://developer.apple.com/documentation/swiftui/shapestyle
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public protocol ShapeStyle: Sendable {}

// https://developer.apple.com/documentation/swiftui/hierarchicalshapestyle
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
public struct HierarchicalShapeStyle: ShapeStyle {}

// https://developer.apple.com/documentation/swiftui/shapestyle/secondary
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension ShapeStyle where Self == HierarchicalShapeStyle {
    public static var secondary: HierarchicalShapeStyle { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/color
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct Color: ShapeStyle, Hashable {}

// https://developer.apple.com/documentation/swiftui/shapestyle/red
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension ShapeStyle where Self == Color {
    public static var red: Color { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/shape
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public protocol Shape: Sendable, View {}

// https://developer.apple.com/documentation/swiftui/circle
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct Circle: Shape {
    public nonisolated init() { fatalError() }
    public var body: Never { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/alignment
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct Alignment: Equatable, Sendable {
    public static let center: Alignment = { fatalError() }()
}

// https://developer.apple.com/documentation/swiftui/horizontalalignment
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct HorizontalAlignment: Equatable, Sendable {
    public static let center: HorizontalAlignment = { fatalError() }()
    public static let leading: HorizontalAlignment = { fatalError() }()
}

// https://developer.apple.com/documentation/swiftui/view/foregroundstyle(_:)
// https://developer.apple.com/documentation/swiftui/view/clipshape(_:style:)
// https://developer.apple.com/documentation/swiftui/view/font(_:)
// https://developer.apple.com/documentation/swiftui/view/multilinetextalignment(_:)
// https://developer.apple.com/documentation/swiftui/view/tint(_:)-23xyq
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension View {
    public nonisolated func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { EmptyView() }
    public nonisolated func clipShape<S: Shape>(_ shape: S) -> some View { EmptyView() }
    public nonisolated func font(_ font: Font?) -> some View { EmptyView() }
    public nonisolated func tint(_ tint: Color?) -> some View { EmptyView() }
    public nonisolated func multilineTextAlignment(_ alignment: TextAlignment) -> some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/view/frame(width:height:alignment:)
// https://developer.apple.com/documentation/swiftui/view/frame(minwidth:idealwidth:maxwidth:minheight:idealheight:maxheight:alignment:)
// https://developer.apple.com/documentation/swiftui/view/fixedsize(horizontal:vertical:)
// https://developer.apple.com/documentation/swiftui/view/padding(_:_:)
// https://developer.apple.com/documentation/swiftui/view/scaledtofill()
// https://developer.apple.com/documentation/swiftui/view/scaledtofit()
// https://developer.apple.com/documentation/swiftui/view/overlay(alignment:content:)
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension View {
    public nonisolated func frame(
        width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center
    ) -> some View { EmptyView() }
    public nonisolated func frame(
        minWidth: CGFloat? = nil, idealWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil,
        idealHeight: CGFloat? = nil, maxHeight: CGFloat? = nil, alignment: Alignment = .center
    ) -> some View { EmptyView() }
    public nonisolated func fixedSize(horizontal: Bool, vertical: Bool) -> some View { EmptyView() }
    public nonisolated func padding() -> some View { EmptyView() }
    public nonisolated func scaledToFill() -> some View { EmptyView() }
    public nonisolated func scaledToFit() -> some View { EmptyView() }
    public nonisolated func overlay<V: View>(
        alignment: Alignment = .center, @ViewBuilder content: () -> V
    ) -> some View { EmptyView() }
}
