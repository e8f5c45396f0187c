#if canImport(CryptoKit) || Encryption
    internal import Martlet

    /// A request to the loopback listener, as far as it has arrived.
    enum LoopbackRequest: Equatable {
        /// The head has not arrived completely.
        case incomplete
        /// The request is not a callback of this sign-in. The listener responds with the status and keeps waiting.
        case refused(status: Int)
        /// The browser asks for the page to start with.
        case start(location: String)
        /// The query of the callback.
        case callback(query: String)

        /// The size of the largest head, in bytes.
        static let maximumSize = 16 << 10

        /// The expectations of a callback.
        struct Expectation: Sendable {
            /// The only acceptable `Host`. Any other may come from a web page whose host name resolves to this machine.
            let host: String
            let path: String
            let state: Secret
            /// The listener's start page and the server's page that it redirects to; `nil` if the browser opens the
            /// latter itself.
            var start: Start?
        }

        /// A page of the listener that redirects to a page of the server.
        struct Start: Sendable {
            let path: String
            let location: String
        }

        init(_ bytes: [UInt8], _ expected: Expectation) {
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
                self = bytes.count < Self.maximumSize ? .incomplete : .refused(status: 431)
                return
            }
            guard end.upperBound <= Self.maximumSize else {
                self = .refused(status: 431)
                return
            }
            // ASCII without control characters, so that a field is one line for every reader.
            let text = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
            let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
            let isPlain = lines.allSatisfy {
                $0.utf8.allSatisfy { (0x20..<0x7F).contains($0) || $0 == 0x09 || $0 >= 0x80 }
            }
            self = isPlain ? Self.read(lines, expected) : .refused(status: 400)
        }

        private static func read(_ lines: [Substring], _ expected: Expectation) -> LoopbackRequest {
            let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else {
                return .refused(status: 400)
            }
            var hosts: [Substring] = []
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: ":"), line.startIndex < colon else {
                    return .refused(status: 400)
                }
                let value = line[colon...].dropFirst().trimmingBlanks
                switch line[..<colon].lowercased() {
                case "host": hosts.append(value)
                case "transfer-encoding": return .refused(status: 400)
                case "content-length" where value != "0": return .refused(status: 400)
                default: break
                }
            }
            guard hosts.count == 1, hosts[0].lowercased() == expected.host else { return .refused(status: 400) }
            guard words[0] == "GET" else { return .refused(status: 405) }
            if let start = expected.start, String(words[1]).isIdentical(to: start.path) {
                return .start(location: start.location)
            }
            let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            guard target.first.map({ String($0).isIdentical(to: expected.path) }) == true else {
                return .refused(status: 404)
            }
            guard target.count == 2 else { return .refused(status: 400) }
            let query = String(target[1])
            guard AuthorizationResponse(query: query).hasState(expected.state), query.utf8.allSatisfy({ $0 < 0x80 })
            else {
                return .refused(status: 400)
            }
            return .callback(query: query)
        }
    }

    extension Substring {
        fileprivate var trimmingBlanks: Substring {
            var text = self
            while text.first == " " || text.first == "\t" { text.removeFirst() }
            while text.last == " " || text.last == "\t" { text.removeLast() }
            return text
        }
    }
#endif
