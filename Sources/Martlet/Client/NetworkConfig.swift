public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a client does by default. Every part can be replaced; nothing has to be.
///
/// ```swift
/// var config = NetworkConfig()
/// config.timeout = .seconds(10)
/// config.envelope = .standard
/// config.decoder.keyDecodingStrategy = .convertFromSnakeCase
/// let client = NetworkClient(baseURL: "https://api.example.com", config: config)
/// ```
public struct NetworkConfig: Sendable {
    /// How long one attempt may take, from its start to the last byte of the answer. Default 30 s.
    ///
    /// What takes its time because it is large is not cut off: the time starts anew with each piece of a body that goes out,
    /// and of a download that comes in. A body in memory of up to 1 MiB is one piece, unless a ``TransferMonitor`` watches.
    public var timeout: Duration = .seconds(30)
    /// Header fields of every request; an endpoint's own replace them.
    public var headers: HTTPFields = [:]
    /// Decodes answers. Dates are read in ISO 8601, with and without fractions of a second. Configure it before it is
    /// handed to a client.
    public var decoder: JSONDecoder = .martlet
    /// Encodes bodies. Dates are written in ISO 8601. Configure it before it is handed to a client.
    public var encoder: JSONEncoder = .martlet
    /// What the server wraps its answers in; `nil` where they come bare.
    public var envelope: ResponseEnvelope?
    /// The app's own interceptors, after the one that signs requests and before ``retry``.
    public var interceptors: [any RequestInterceptor] = []
    /// What is repeated, and when.
    public var retry = RetryPolicy()
    /// Who watches.
    public var observers: [any NetworkObserver] = []
    /// What is done before a large body goes out.
    public var uploads = UploadPolicy()
    /// Which redirects are followed.
    public var redirects = RedirectPolicy()
    /// How many requests may be under way at the same origin at once; no limit of the client's own if `nil`, and
    /// values below 1 count as 1. The refresh of tokens is not counted and never waits.
    public var maxConcurrentRequests: Int?
    /// Signs a guest in where a call requires somebody and nobody is there; such calls fail if `nil`.
    public var guestPolicy: GuestPolicy?
    /// The largest answer that is taken into memory, in bytes. Default 64 MiB.
    public var maximumResponseBytes: Int = 64 << 20
    /// Whether plain `http` is allowed to other machines than this one. Default no.
    public var allowsInsecureHTTP = false
    /// The clocks; those of the client's ``TokenManager``, or else the system's, if `nil`.
    public var time: (any TimeSource)?

    /// The defaults.
    public init() {}
}

extension JSONDecoder {
    /// A decoder that reads ISO 8601 dates with and without fractions of a second.
    public static var martlet: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let date = ISO8601.parse(text) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "\"\(text)\" is no date in ISO 8601")
            }
            return date
        }
        return decoder
    }
}

extension JSONEncoder {
    /// An encoder that writes ISO 8601 dates, with milliseconds where there are any.
    public static var martlet: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(ISO8601.format(date))
        }
        return encoder
    }
}
