// https://developer.apple.com/documentation/objectivec/autoreleasepool(invoking:)
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public func autoreleasepool<E: Error, Result>(invoking body: () throws(E) -> Result) throws(E) -> Result { fatalError() }
