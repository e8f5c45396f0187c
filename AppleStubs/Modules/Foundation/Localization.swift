// https://developer.apple.com/documentation/swift/string/localizationvalue
// https://developer.apple.com/documentation/swift/string/init(localized:table:bundle:locale:comment:)
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
extension String {
    public struct LocalizationValue: Equatable, ExpressibleByStringInterpolation, Sendable {
        public init(stringLiteral value: String) { fatalError() }
    }

    public init(localized keyAndValue: String.LocalizationValue) { fatalError() }
}
