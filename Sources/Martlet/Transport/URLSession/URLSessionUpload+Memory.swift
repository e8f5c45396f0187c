#if canImport(FoundationNetworking) && (!os(Linux) || URLSession || !AsyncHTTPClient)
    internal import Foundation
    internal import FoundationNetworking
    internal import MartletLibc

    extension URLSessionExchanges {
        /// The number of uploaded bytes after which the allocator is asked to return free memory to the system.
        private static let trimInterval: Int64 = 32 << 20

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            exchange(for: task)?.reportSent(totalBytesSent)
            // FoundationNetworking keeps reading the file on new threads, and glibc keeps the freed memory of each of
            // them. In a long upload that memory exceeds all data in transit.
            guard totalBytesSent / Self.trimInterval != (totalBytesSent - bytesSent) / Self.trimInterval else { return }
            Self.giveMemoryBack()
        }

        #if canImport(Glibc)
            private static func giveMemoryBack() { _ = trim?(0) }

            /// `malloc_trim` of glibc, which Swift's module does not export; `nil` with another allocator.
            private static let trim: (@convention(c) (Int) -> Int32)? = {
                guard let symbol = dlsym(nil, "malloc_trim") else { return nil }
                // glibc has always declared it as `int malloc_trim(size_t)`.
                return unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)
            }()
        #else
            private static func giveMemoryBack() {}
        #endif
    }
#endif
