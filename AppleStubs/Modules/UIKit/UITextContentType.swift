// https://developer.apple.com/documentation/uikit/uitextcontenttype
public struct UITextContentType: Hashable, Sendable {
    public static let name = UITextContentType()
}
