public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension HTTPRequest {
    /// The request as a command for `curl`, with every secret masked: put your own in before you run it.
    ///
    /// ```swift
    /// print(request.curlCommand())
    /// // curl 'https://api.example.com/articles?page=2' --header 'Authorization: <redacted>'
    /// ```
    ///
    /// Masked are the fields that ``NetworkObserver``s do not see either, and whatever looks like a secret in the path, the
    /// query and the body. It is quoted for a POSIX shell, whatever characters there are in it.
    /// - Parameters:
    ///   - body: What it carries. A text is shown; for other bytes there is the name of a file for you to put them into.
    ///   - textLimit: How many bytes a text may have to be shown.
    public func curlCommand(body: Data? = nil, textLimit: Int = 4096) -> String {
        let body = body.map {
            ObservedBody(contentType: headerFields[.contentType], length: Int64($0.count), bytes: $0)
        }
        return CurlCommand(redacted, body, textLimit: textLimit).text
    }
}

extension ObservedAttempt {
    /// The attempt as a command for `curl`, with every secret masked. See `HTTPRequest.curlCommand(body:textLimit:)`.
    /// - Parameter textLimit: How many bytes the body may have to be shown.
    public func curlCommand(textLimit: Int = 4096) -> String {
        CurlCommand(request, body, textLimit: textLimit).text
    }
}

/// Writes every attempt as a command for `curl`, before it is sent: `config.observers = [.curl()]`.
///
/// Secrets are masked; see `HTTPRequest.curlCommand(body:textLimit:)`.
public struct CurlObserver: NetworkObserver {
    private let textLimit: Int
    private let output: LogOutput

    /// Writes every attempt as a command for `curl`.
    /// - Parameters:
    ///   - output: Where commands go.
    ///   - textLimit: How many bytes a body may have to be shown.
    public init(to output: LogOutput = .standardError, textLimit: Int = 4096) {
        self.output = output
        self.textLimit = textLimit
    }

    /// Writes the command.
    public func attemptWillStart(_ attempt: ObservedAttempt) {
        output.write(attempt.curlCommand(textLimit: textLimit))
    }
}

extension NetworkObserver where Self == CurlObserver {
    /// Writes every attempt as a command for `curl`, with every secret masked.
    /// - Parameters:
    ///   - output: Where commands go.
    ///   - textLimit: How many bytes a body may have to be shown.
    public static func curl(to output: LogOutput = .standardError, textLimit: Int = 4096) -> CurlObserver {
        CurlObserver(to: output, textLimit: textLimit)
    }
}

/// The words of a command.
struct CurlCommand {
    let text: String

    /// - Parameter request: The request with its secrets masked.
    init(_ request: HTTPRequest, _ body: ObservedBody?, textLimit: Int) {
        let url = (request.scheme.map { $0 + "://" } ?? "") + (request.authority ?? "") + (request.path ?? "")
        var words = ["curl"]
        // To curl, brackets and braces stand for many URLs, and dots for folders.
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
            // Otherwise curl takes it for a form.
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

    /// A word as a POSIX shell reads it (XCU, section 2.2.2): in single quotes everything stands for itself but the single
    /// quote. No argument of a program can have a zero byte in it, so that it is left out.
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
