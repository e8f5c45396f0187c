#if canImport(CryptoKit) || Encryption
    internal import Martlet

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    extension OAuthError {
        /// An error that the server has explained (RFC 6749, sections 4.1.2.1 and 5.2).
        /// - Parameter secrets: Texts that the explanation may repeat.
        init(code: String, _ explanation: String?, by place: String, hiding secrets: [Secret]) {
            let code = Self.shown(code, upTo: 64, hiding: secrets)
            let why = explanation.map { Self.shown($0, upTo: 200, hiding: secrets) } ?? ""
            let text = "\(place) has refused the sign-in with \(code)" + (why.isEmpty ? "." : ": \(why)")
            self.init(code == "access_denied" ? .denied : .refused(code: code), text)
        }

        /// A response of an endpoint that is not a success.
        init(refusal response: ServerResponse, by endpoint: String, hiding secrets: [Secret]) {
            guard (400..<500).contains(response.status), let members = response.members,
                let code = members["error"]?.string
            else {
                let userText: UserText? = response.status >= 500 ? .serverTrouble : nil
                self.init(
                    .unreachable, "\(endpoint) responded with \(response.status). Try again later.", userText: userText)
                return
            }
            self.init(code: code, members["error_description"]?.string, by: endpoint, hiding: secrets)
        }

        /// Text from a server without control characters and secrets.
        private static func shown(_ text: String, upTo limit: Int, hiding secrets: [Secret]) -> String {
            var clean = String(String.UnicodeScalarView(text.unicodeScalars.filter(\.isShown)))
            for secret in secrets where !secret.reveal().isEmpty {
                clean = clean.replacing(secret.reveal(), with: "<redacted>")
            }
            clean = Redaction.redactReason(clean)
            return clean.count > limit ? String(clean.prefix(limit)) : clean
        }
    }

    extension Unicode.Scalar {
        /// Whether the character is neither a control character nor one that reorders or moves others.
        fileprivate var isShown: Bool {
            switch properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
            default: true
            }
        }
    }
#endif
