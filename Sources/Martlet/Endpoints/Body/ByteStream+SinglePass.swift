extension ByteStream {
    /// A stream that allows one pass was read again.
    struct AlreadyReadError: Error, Sendable, Hashable, CustomStringConvertible {
        var description: String { "this stream can be read only once, and it has been read before" }
    }

    /// A stream that calls `makeNext` for the first pass. Any later pass throws ``ByteStream/AlreadyReadError``.
    static func singlePass(_ makeNext: @escaping @Sendable () -> NextChunk) -> ByteStream {
        let source = Locked<(@Sendable () -> NextChunk)?>(makeNext)
        return ByteStream {
            // Remove the closure from the stream, so that the stream does not retain the exchange after the pass.
            let makeNext = source.withLock { source in
                defer { source = nil }
                return source
            }
            guard let makeNext else { return { throw AlreadyReadError() } }
            return makeNext()
        }
    }

    static var empty: ByteStream { ByteStream { { nil } } }
}
