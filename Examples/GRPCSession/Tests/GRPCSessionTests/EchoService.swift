import GRPCCore
import Synchronization

/// Accepts the tokens that a test allows, and returns the messages that it gets.
final class EchoService: RegistrableRPCService {
    static let method = MethodDescriptor(fullyQualifiedService: "test.Echo", method: "Echo")

    private let accepted: Mutex<Set<String>>
    private let field: String
    private let seen = Mutex<[String]>([])
    private let onRejection: @Sendable () async -> Void

    /// - Parameters:
    ///   - tokens: The tokens that the service accepts.
    ///   - field: The metadata field with the token.
    ///   - onRejection: Called before an RPC is rejected.
    init(
        accepting tokens: Set<String>, in field: String = "authorization",
        onRejection: @escaping @Sendable () async -> Void = {}
    ) {
        accepted = Mutex(tokens)
        self.field = field
        self.onRejection = onRejection
    }

    /// The tokens of all RPCs, in order.
    var tokens: [String] { seen.withLock { $0 } }

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        router.registerHandler(
            forMethod: Self.method, deserializer: TextSerializer(), serializer: TextSerializer()
        ) { request, _ in
            let value = request.metadata[stringValues: self.field].first { _ in true } ?? ""
            let token = String(value.dropFirst("Bearer ".count))
            self.seen.withLock { $0.append(token) }
            guard self.accepted.withLock({ $0.contains(token) }) else {
                await self.onRejection()
                throw RPCError(code: .unauthenticated, message: "the token is not valid")
            }
            return StreamingServerResponse { writer in
                for try await message in request.messages { try await writer.write(message) }
                return [:]
            }
        }
    }
}

/// Strings as UTF-8.
struct TextSerializer: MessageSerializer, MessageDeserializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: String) throws -> Bytes { Bytes(message.utf8) }

    func deserialize<Bytes: GRPCContiguousBytes>(_ serializedMessageBytes: Bytes) throws -> String {
        serializedMessageBytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
