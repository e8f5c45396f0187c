#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension RequestContext {
    /// The body of a request, as interceptors see it.
    public struct Body: Sendable {
        /// The bytes; `nil` if the body is read from a file or a stream while it is sent.
        public var bytes: Data? { prepared.bytes }
        /// The number of bytes; `nil` if it is unknown.
        public var length: Int64? { prepared.length }

        let prepared: PreparedBody

        /// Creates a body from bytes in memory.
        public init(_ bytes: Data) {
            self.init(PreparedBody(bytes))
        }

        init(_ prepared: PreparedBody) {
            self.prepared = prepared
        }
    }

    /// The body of the request; `nil` if it has none.
    ///
    /// To replace it, assign another body. How long the new body applies depends on the hook:
    ///
    /// - In ``RequestInterceptor/prepare(_:for:)``, all attempts send the new body.
    /// - In ``RequestInterceptor/adapt(_:for:)``, one attempt sends it. The next one starts from the prepared body.
    /// - In ``RequestInterceptor/retry(_:for:dueTo:)``, all further attempts send it, if this interceptor decides to
    ///   retry.
    /// - In the other hooks, an assignment has no effect.
    ///
    /// Set `Content-Type` and `Content-Encoding` yourself; the transport sends the length of the new body. Like header
    /// fields, the body of an interceptor does not go to a third party, unless the interceptor itself sends the request
    /// there.
    ///
    /// ```swift
    /// if let bytes = context.body?.bytes { context.body = .init(encrypt(bytes)) }
    /// ```
    public var body: Body? {
        get { outgoing.map { Body($0) } }
        set {
            outgoing = newValue?.prepared
            bodyVersion += 1
        }
    }
}
