#if os(Linux) && AsyncHTTPClient
    extension Transport where Self == AsyncHTTPClientTransport {
        /// The default transport of the platform: `AsyncHTTPClientTransport.shared`.
        public static var platformDefault: AsyncHTTPClientTransport { .shared }
    }
#else
    extension Transport where Self == URLSessionTransport {
        /// The default transport of the platform: `URLSessionTransport.shared`.
        public static var platformDefault: URLSessionTransport { .shared }
    }
#endif
