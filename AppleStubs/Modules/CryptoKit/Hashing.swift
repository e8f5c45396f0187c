public import FoundationEssentials

// https://developer.apple.com/documentation/cryptokit/hashfunction
@preconcurrency public protocol HashFunction: Sendable {
    associatedtype Digest: CryptoKit.Digest
    static var blockByteCount: Int { get }
    init()
    mutating func update(bufferPointer: UnsafeRawBufferPointer)
    func finalize() -> Digest
}

// https://developer.apple.com/documentation/cryptokit/hashfunction/update(data:)
// https://developer.apple.com/documentation/cryptokit/hashfunction/hash(data:)
extension HashFunction {
    public mutating func update<D: DataProtocol>(data: D) { fatalError() }
    public static func hash<D: DataProtocol>(data: D) -> Self.Digest { fatalError() }
}

// https://developer.apple.com/documentation/cryptokit/digest
@preconcurrency public protocol Digest: ContiguousBytes, CustomStringConvertible, Hashable, Sendable, Sequence
where Element == UInt8 {
    static var byteCount: Int { get }
}

// https://developer.apple.com/documentation/cryptokit/digest
extension Digest {
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
    public var description: String { fatalError() }
}
