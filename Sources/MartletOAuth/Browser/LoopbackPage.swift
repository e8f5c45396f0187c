#if canImport(CryptoKit) || Encryption
    internal import Martlet

    /// The responses of the loopback listener. They contain no script and may be neither cached nor embedded.
    enum LoopbackPage {
        /// The whole response to a request.
        /// - Parameter location: The target of a redirect.
        static func response(status: Int, location: String? = nil) -> [UInt8] {
            let body = status == 200 ? page(title: title, text: text) : page(title: "\(status)", text: reason(status))
            var head = [
                "HTTP/1.1 \(status) \(reason(status))", "Content-Type: text/html; charset=utf-8",
                "Content-Length: \(body.utf8.count)", "Cache-Control: no-store", "Referrer-Policy: no-referrer",
                "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
                "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY", "Connection: close",
            ]
            if let location { head.append("Location: \(location)") }
            return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
        }

        private static var title: String {
            switch UserText.Language.current {
            case .english: "You can close this window"
            case .korean: "이 창을 닫아도 됩니다"
            }
        }

        private static var text: String {
            switch UserText.Language.current {
            case .english: "Return to the app to continue."
            case .korean: "앱으로 돌아가 계속하세요."
            }
        }

        private static func reason(_ status: Int) -> String {
            switch status {
            case 200: "OK"
            case 303: "See Other"
            case 404: "Not Found"
            case 405: "Method Not Allowed"
            case 431: "Request Header Fields Too Large"
            default: "Bad Request"
            }
        }

        /// The strings are constants without markup, so they need no escaping.
        private static func page(title: String, text: String) -> String {
            """
            <!DOCTYPE html>
            <html lang="\(UserText.Language.current == .korean ? "ko" : "en")">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title)</title>
            <style>
            body { font: 1.1rem/1.5 system-ui, sans-serif; margin: 20vh auto 0; max-width: 30rem; padding: 0 1rem; \
            text-align: center; color: #1d1d1f; background: #fff }
            h1 { font-size: 1.6rem; line-height: 1.25; word-break: keep-all }
            @media (prefers-color-scheme: dark) { body { color: #f5f5f7; background: #1d1d1f } }
            </style>
            </head>
            <body><h1>\(title)</h1><p>\(text)</p></body>
            </html>

            """
        }
    }
#endif
