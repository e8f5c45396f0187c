// https://developer.apple.com/documentation/objectivec/autoreleasepool(invoking:)
public func autoreleasepool<E: Error, Result>(invoking body: () throws(E) -> Result) throws(E) -> Result { fatalError() }
