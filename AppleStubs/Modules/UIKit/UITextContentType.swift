// https://developer.apple.com/documentation/uikit/uitextcontenttype
@available(iOS 10, tvOS 10, visionOS 1, *)
@available(watchOS, unavailable)
public struct UITextContentType: Hashable, Sendable {
    public static let name = UITextContentType()
}
