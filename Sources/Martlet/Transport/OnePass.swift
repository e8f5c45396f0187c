extension ByteStream {
    /// A body that can be read only once was read again.
    public struct AlreadyRead: Error, Sendable, Hashable, CustomStringConvertible {
        /// A body that can be read only once was read again.
        public init() {}

        /// What happened, in words.
        public var description: String { "this body can be read only once, and it was read before" }
    }

    /// A stream that calls `makeNext` for the first pass; any later pass throws ``ByteStream/AlreadyRead``.
    static func onePass(_ makeNext: @escaping @Sendable () -> NextChunk) -> ByteStream {
        let source = Locked<(@Sendable () -> NextChunk)?>(makeNext)
        return ByteStream {
            // Taken out, so that a finished pass holds nothing of the exchange any more.
            let makeNext = source.withLock { source in
                defer { source = nil }
                return source
            }
            guard let makeNext else { return { throw AlreadyRead() } }
            return makeNext()
        }
    }

    /// A stream of nothing.
    static var empty: ByteStream { ByteStream { { nil } } }
}
