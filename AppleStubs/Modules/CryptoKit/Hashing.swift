public import FoundationEssentials

// https://developer.apple.com/documentation/cryptokit/hashfunction
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
@preconcurrency public protocol HashFunction: Sendable {
    associatedtype Digest: CryptoKit.Digest
    static var blockByteCount: Int { get }
    init()
    mutating func update(bufferPointer: UnsafeRawBufferPointer)
    func finalize() -> Digest
}

// https://developer.apple.com/documentation/cryptokit/hashfunction/update(data:)
// https://developer.apple.com/documentation/cryptokit/hashfunction/hash(data:)
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension HashFunction {
    public mutating func update<D: DataProtocol>(data: D) { fatalError() }
    public static func hash<D: DataProtocol>(data: D) -> Self.Digest { fatalError() }
}

// https://developer.apple.com/documentation/cryptokit/digest
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
@preconcurrency public protocol Digest: ContiguousBytes, CustomStringConvertible, Hashable, Sendable, Sequence
where Element == UInt8 {
    static var byteCount: Int { get }
}

// https://developer.apple.com/documentation/cryptokit/digest
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension Digest {
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
    public var description: String { fatalError() }
}
