internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension NetworkObserver where Self == LogObserver {
    /// Writes each attempt as a `curl` command before it is sent: `config.observers = [.curl()]`.
    ///
    /// Secrets are masked: insert your own before you run a command. The same header fields are masked as in an
    /// ``ObservedCall``, and everything in the path, the query and the body that looks like a secret. A command is
    /// quoted for a POSIX shell. It contains a body that is text, and otherwise names a file for you to fill.
    /// - Parameters:
    ///   - textLimit: The largest body to include, in bytes.
    ///   - write: Writes a command. `nil` writes to standard error.
    public static func curl(
        textLimit: Int = 4096, write: (@Sendable (String) -> Void)? = nil
    ) -> LogObserver {
        let write = write ?? LogOutput.standardError.write
        return LogObserver(writeCurl: { write(CurlCommand($0.request, $0.body, textLimit: textLimit).text) }) { _ in }
    }
}

/// The text of a `curl` command.
struct CurlCommand {
    let text: String

    /// - Parameter request: The request, with its secrets masked.
    init(_ request: HTTPRequest, _ body: ObservedBody?, textLimit: Int) {
        let url = (request.scheme.map { $0 + "://" } ?? "") + (request.authority ?? "") + (request.path ?? "")
        var words = ["curl"]
        // By default curl expands brackets and braces to several URLs, and removes dot segments.
        if url.contains(where: { "[]{}".contains($0) }) { words.append("--globoff") }
        if url.contains("/.") { words.append("--path-as-is") }
        switch (request.method, body) {
        case (.get, nil): break
        case (.head, nil): words.append("--head")
        case (let method, _): words += ["--request", method.rawValue]
        }
        words.append(url)
        for field in request.headerFields where field.name != .contentLength {
            words += ["--header", field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"]
        }
        if let body {
            // Without this, curl declares the body as a form.
            if request.headerFields[.contentType] == nil { words += ["--header", "Content-Type:"] }
            if let text = body.text(limit: textLimit) {
                words += ["--data-raw", text]
            } else {
                words += ["--data-binary", "@request-body." + Self.fileExtension(for: body.contentType)]
            }
        }
        text = words.map(Self.quote).joined(separator: " ")
    }

    private static func fileExtension(for contentType: String?) -> String {
        let type = contentType?.lowercased() ?? ""
        if type.contains("json") { return "json" }
        return type.hasPrefix("text/") ? "txt" : "bin"
    }

    /// Quotes a word for a POSIX shell (XCU, section 2.2.2). NUL is removed, because no program argument can contain
    /// it.
    static func quote(_ word: String) -> String {
        let scalars = word.unicodeScalars.filter { $0 != "\0" }
        func isPlain(_ scalar: Unicode.Scalar) -> Bool {
            scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789_-+=:,./@%".unicodeScalars.contains(scalar))
        }
        guard scalars.isEmpty || !scalars.allSatisfy(isPlain) else { return String(String.UnicodeScalarView(scalars)) }
        var quoted = String.UnicodeScalarView()
        for scalar in scalars {
            quoted.append(contentsOf: scalar == "'" ? #"'\''"#.unicodeScalars : String(scalar).unicodeScalars)
        }
        return "'" + String(quoted) + "'"
    }
}
