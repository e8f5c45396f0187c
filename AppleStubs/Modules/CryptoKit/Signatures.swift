public import FoundationEssentials

// https://developer.apple.com/documentation/cryptokit/p256/signing
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public enum P256 {
    public enum Signing {
        public struct PublicKey: Sendable {
            public init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws { fatalError() }
            public func isValidSignature<D: DataProtocol>(_ signature: P256.Signing.ECDSASignature, for data: D) -> Bool {
                fatalError()
            }
        }
        public struct ECDSASignature: Sendable {
            public init<D: DataProtocol>(rawRepresentation: D) throws { fatalError() }
        }
    }
}

// https://developer.apple.com/documentation/cryptokit/p384/signing
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public enum P384 {
    public enum Signing {
        public struct PublicKey: Sendable {
            public init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws { fatalError() }
            public func isValidSignature<D: DataProtocol>(_ signature: P384.Signing.ECDSASignature, for data: D) -> Bool {
                fatalError()
            }
        }
        public struct ECDSASignature: Sendable {
            public init<D: DataProtocol>(rawRepresentation: D) throws { fatalError() }
        }
    }
}

// https://developer.apple.com/documentation/cryptokit/curve25519/signing
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public enum Curve25519 {
    public enum Signing {
        public struct PublicKey: Sendable {
            public init<D: ContiguousBytes>(rawRepresentation data: D) throws { fatalError() }
            public func isValidSignature<S: DataProtocol, D: DataProtocol>(_ signature: S, for data: D) -> Bool {
                fatalError()
            }
        }
    }
}

// https://developer.apple.com/documentation/cryptokit/sha384
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct SHA384: HashFunction {
    public typealias Digest = SHA384Digest
    public static var blockByteCount: Int { fatalError() }
    public init() { fatalError() }
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) { fatalError() }
    public func finalize() -> SHA384.Digest { fatalError() }
}

// https://developer.apple.com/documentation/cryptokit/sha384digest
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct SHA384Digest: Digest {
    public static var byteCount: Int { fatalError() }
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
}
