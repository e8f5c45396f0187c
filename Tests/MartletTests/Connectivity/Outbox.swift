import Foundation
import Martlet

/// Sends messages in the order in which they were written, including those of an earlier process.
actor Outbox {
    /// One message as it is kept in the file. Its number tells the server which messages it has seen already.
    struct PostMessage: APIEndpoint, Codable, Hashable {
        var number = UUID()
        var text: String

        var path: RequestPath { "/messages" }
        var method: HTTPRequest.Method { .post }
        var body: RequestBody? { .json(["text": text]) }
        var authentication: AuthenticationRequirement { .required }
        var connectivityTimeout: Duration? { .seconds(3600) }
        var headers: HTTPFields {
            var fields = HTTPFields()
            fields[.idempotencyKey] = number.uuidString
            return fields
        }
    }

    private let file: URL
    private let client: any APIClient
    private(set) var waiting: [PostMessage]
    private var isSending = false

    /// - Parameter file: A file of this account alone, so that no message is sent under another.
    init(file: URL, client: any APIClient) throws {
        self.file = file
        self.client = client
        let exists = FileManager.default.fileExists(atPath: file.path)
        waiting = exists ? try JSONDecoder().decode([PostMessage].self, from: Data(contentsOf: file)) : []
    }

    /// Keeps a message. It is safe when this returns; call ``send()`` to send it.
    func add(_ text: String) throws {
        try keep(waiting + [PostMessage(text: text)])
    }

    /// Sends the waiting messages, one after another. Call it after a launch, after ``add(_:)`` and after a sign-in.
    /// - Returns: The messages that the server has refused. They are no longer kept. If a message could not be sent
    ///   after that, it waits, and the next call tries again.
    @discardableResult
    func send() async throws -> [PostMessage] {
        guard !isSending else { return [] }
        isSending = true
        defer { isSending = false }
        var refused: [PostMessage] = []
        while let message = waiting.first {
            do throws(NetworkError) {
                try await client.send(message)
            } catch {
                // Only a response from the server means that it does not want the message.
                guard error.response != nil, !error.isRetryable, !error.needsSignIn else {
                    if refused.isEmpty { throw error }
                    return refused
                }
                refused.append(message)
            }
            try keep(waiting.filter { $0 != message })
        }
        return refused
    }

    /// Forgets everything. Call it when the user signs out.
    func clear() throws { try keep([]) }

    private func keep(_ messages: [PostMessage]) throws {
        try JSONEncoder().encode(messages).write(to: file, options: .atomic)
        waiting = messages
    }
}

extension NetworkError {
    /// Whether the message is fine, and the user has to sign in.
    fileprivate var needsSignIn: Bool {
        switch self {
        case .unauthorized, .signInRequired, .sessionExpired, .sessionChanged, .refreshFailed: true
        // A 401 in an envelope is `api`.
        default: status == 401
        }
    }
}
