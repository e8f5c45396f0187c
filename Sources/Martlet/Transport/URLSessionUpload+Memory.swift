#if canImport(FoundationNetworking) && (!os(Linux) || URLSession || !AsyncHTTPClient)
    internal import Foundation
    internal import FoundationNetworking

    #if canImport(Glibc)
        internal import Glibc
    #endif

    extension URLSessionExchanges {
        /// After how many bytes of an upload the allocator is asked to give back what it keeps.
        private static let stretch: Int64 = 32 << 20

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            exchange(for: task)?.hasSent(totalBytesSent)
            // FoundationNetworking reads the file on ever new threads, and glibc keeps for each of them what it has freed:
            // of a long upload that is more than all that is on its way.
            guard totalBytesSent / Self.stretch != (totalBytesSent - bytesSent) / Self.stretch else { return }
            Self.giveMemoryBack()
        }

        #if canImport(Glibc)
            private static func giveMemoryBack() { _ = trim?(0) }

            /// `malloc_trim` of glibc, which Swift's module of it leaves out; `nil` where another allocator is in use.
            private static let trim: (@convention(c) (Int) -> Int32)? = {
                guard let symbol = dlsym(nil, "malloc_trim") else { return nil }
                // The symbol has had this type, `int malloc_trim(size_t)`, since glibc was first released with it.
                return unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)
            }()
        #else
            private static func giveMemoryBack() {}
        #endif
    }
#endif
