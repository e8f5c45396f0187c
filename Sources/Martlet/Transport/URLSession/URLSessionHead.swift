#if !os(Linux) || URLSession || !AsyncHTTPClient
    package import HTTPTypes

    #if canImport(FoundationNetworking)
        internal import Foundation
        package import FoundationNetworking
    #else
        package import Foundation
    #endif

    extension HTTPResponse {
        /// The head as the session reports it, which still announces the codings that the session has decoded.
        package init(_ response: HTTPURLResponse) {
            // On Linux, each access creates a new dictionary.
            let reported = response.allHeaderFields
            var fields = HTTPFields()
            fields.reserveCapacity(reported.count)
            for (name, value) in reported {
                guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String
                else { continue }
                guard name == .setCookie else {
                    fields.append(HTTPField(name: name, value: value))
                    continue
                }
                for cookie in SetCookie.separated(value) { fields.append(HTTPField(name: name, value: String(cookie))) }
            }
            self.init(status: .init(code: response.statusCode), headerFields: fields)
        }

        /// The head without the codings that the session has decoded; `nil` if more of the body must be known first.
        /// - Parameters:
        ///   - start: The bytes of the body that the session has delivered so far.
        ///   - isComplete: Whether there are no more.
        func decoded(_ start: Data, isComplete: Bool) -> HTTPResponse? {
            guard headerFields.contains(.contentEncoding) else { return self }
            guard let left = ContentCodings(headerFields).leftBySession(start, isComplete: isComplete) else {
                return nil
            }
            var head = self
            head.headerFields.announce(left)
            return head
        }
    }

    extension ContentCodings {
        private static let gzip: Set<String> = ["gzip", "x-gzip"]
        /// The codings that every supported system decodes.
        private static let alwaysDecoded = gzip.union(["deflate", "br"])
        private static let zstd = "zstd"

        /// The codings that `URLSession` has not decoded. It does not say which those are.
        ///
        /// Zstandard depends on the system: iOS 26 and macOS 26 decode it, and on Linux libcurl does if it was built
        /// with it. Earlier systems deliver the bytes as they are. The first bytes therefore decide: those of a
        /// Zstandard frame (RFC 8878, section 3.1) have not been decoded. A list with a coding that the session does
        /// not know is left alone.
        func leftBySession(_ start: Data, isComplete: Bool) -> ContentCodings? {
            var left = self
            guard names.allSatisfy({ Self.alwaysDecoded.contains($0) || $0 == Self.zstd }) else { return left }
            if let last = names.lastIndex(of: Self.zstd) {
                guard isComplete || start.count >= 4 else { return nil }
                if start.isZstandardFrame {
                    left.names = Array(names[...last])
                    return left
                }
                if let outermost = names.last, Self.gzip.contains(outermost), start.starts(with: [0x1F, 0x8B]) {
                    return left
                }
            }
            left.names = []
            return left
        }
    }

    extension Data {
        /// Whether the bytes begin like a frame of Zstandard, or like a frame that its decoders skip.
        fileprivate var isZstandardFrame: Bool {
            guard count >= 4 else { return false }
            return starts(with: [0x28, 0xB5, 0x2F, 0xFD])
                || (first.map { $0 & 0xF0 == 0x50 } == true && dropFirst().starts(with: [0x2A, 0x4D, 0x18]))
        }
    }
#endif
