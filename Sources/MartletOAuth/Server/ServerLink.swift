#if canImport(CryptoKit) || Encryption
    internal import HTTPTypes
    internal import Martlet
    internal import MartletStorage

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// Sends requests to the server, and follows no redirect: a code or a token never reaches another server.
    struct ServerLink: Sendable {
        let transport: any Transport
        let time: any TimeSource
        private let limits: TimeLimits

        private struct Call: Sendable {
            let method: HTTPRequest.Method
            let url: String
            let headers: HTTPFields
            let body: Data?
        }

        /// The time for one request and its response.
        static let timeout = Duration.seconds(30)
        /// The size of the largest response, in bytes.
        static let maximumSize = 1 << 20

        init(transport: any Transport, time: any TimeSource) {
            self.transport = transport
            self.time = time
            limits = TimeLimits(time: time, keepsSleeper: false)
        }

        /// Sends a GET request.
        func get(_ url: String, _ headers: HTTPFields = [:], as kind: OAuthError.Kind) async throws(OAuthError)
            -> ServerResponse
        {
            try await send(Call(method: .get, url: url, headers: headers, body: nil), as: kind)
        }

        /// Sends a form with the client's authentication.
        func post(_ form: Query, to url: String, as client: OAuthClient) async throws(OAuthError) -> ServerResponse {
            var (credentials, headers) = (Query(), HTTPFields())
            client.authenticate(&headers, &credentials)
            headers[.contentType] = "application/x-www-form-urlencoded"
            // A pushed request has the client's identifier already.
            let names = credentials.items.map(\.name)
            let fields = Query(form.items.filter { !names.contains($0.name) } + credentials.items)
            let body = Data(FormEncoding.encode(fields).utf8)
            return try await send(Call(method: .post, url: url, headers: headers, body: body), as: .unreachable)
        }

        /// Runs an operation within a time limit.
        func run<Value: Sendable>(
            within limit: Duration, _ operation: @escaping @Sendable () async throws -> Value
        ) async -> Result<Value, any Error> {
            await limits.run(within: limit, operation)
        }

        private func send(_ call: Call, as kind: OAuthError.Kind) async throws(OAuthError) -> ServerResponse {
            let location: Location
            switch Location.parse(call.url) {
            case .success(let parsed): location = parsed
            case .failure(let error): throw OAuthError(kind, "A URL of the sign-in server cannot be used: \(error)")
            }
            var headers = call.headers
            headers[.accept] = "application/json"
            let request = HTTPRequest(
                method: call.method, scheme: location.origin.scheme, authority: location.authority,
                path: location.target,
                headerFields: headers)
            let result = await limits.run(within: Self.timeout) { [transport] in
                let response = try await transport.send(request, body: call.body.map { OutgoingBody($0) })
                return ServerResponse(
                    head: response.head, body: try await response.body.collect(upTo: Self.maximumSize))
            }
            switch result {
            case .success(let response): return response
            case .failure(let error): throw Self.failure(error, of: "\(call.method) \(location.redactedText)", as: kind)
            }
        }

        private static func failure(_ error: any Error, of call: String, as kind: OAuthError.Kind) -> OAuthError {
            let again = "Check the network, and try again."
            switch error {
            case is CancellationError: return OAuthError(.cancelled, "\(call): the task was cancelled.")
            case is TimeLimitError, TransportError.timedOut:
                return OAuthError(kind, "\(call): no complete response in time. \(again)", userText: .timedOut)
            case TransportError.offline:
                return OAuthError(kind, "\(call): this device is offline. \(again)", userText: .offline)
            case TransportError.cannotConnect(let reason), TransportError.connectionLost(let reason):
                return OAuthError(
                    kind, "\(call): the server could not be reached (\(reason)). \(again)", userText: .cannotConnect)
            case TransportError.tlsFailed(let reason):
                return OAuthError(kind, "\(call): TLS failed (\(reason)).", userText: .notSecure)
            case let error as ByteStream.TooLargeError:
                return OAuthError(kind, "\(call): the response is larger than \(error.limit) bytes.")
            default: return OAuthError(kind, "\(call): \(error)")
            }
        }
    }

    extension ServerResponse {
        /// The members of the body's JSON object.
        /// - Returns: `nil` if the body is not an object, or if two members have the same name.
        var members: [String: StrictJSON]? { (try? StrictJSON(body))?.members }
    }
#endif
