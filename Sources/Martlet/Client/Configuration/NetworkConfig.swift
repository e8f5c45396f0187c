public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The settings of a ``NetworkClient``. Every setting has a default.
///
/// ```swift
/// var config = NetworkConfig()
/// config.timeout = .seconds(10)
/// config.envelope = ResponseEnvelope()
/// config.maximumConcurrentRequests = 4
/// let client = NetworkClient(baseURL: "https://api.example.com", config: config)
/// ```
public struct NetworkConfig: Sendable {
    /// The longest time that one attempt may take, from the start of its request to the last byte of the response. In a
    /// large transfer, the longest time without progress. The default is 30 s.
    ///
    /// Each chunk of an upload restarts the limit, and so does each chunk of a download to a file. A body in memory of
    /// up to 1 MiB is a single chunk that does not restart it, unless the call has a ``TransferMonitor``. Nor does a
    /// response that is read into memory. For a stream, the limit ends with the head of the response.
    public var timeout: Duration = .seconds(30)
    /// The longest time that a call waits for a network, counted from the start of the call, or from the moment at
    /// which a download broke off that can be resumed. The default is `nil`: without a network, the call fails at once,
    /// and ``NetworkError/isOffline`` is `true`.
    ///
    /// A call waits only if its last attempt has sent nothing, and only if its body can be sent again: a call with a
    /// single-use body (``RequestBody/singleUse(_:length:contentType:)``) fails at once. Waiting calls are sent as soon
    /// as ``connectivity`` reports a network, each with the token of its own session, and fail if that session ends
    /// first. They are kept in memory, and are lost when the process ends.
    public var connectivityTimeout: Duration?
    /// Tells waiting calls when the device has a network.
    public var connectivity: any ConnectivityMonitor = SystemConnectivityMonitor.shared
    /// Header fields of every request to the base URL's origin and to the trusted origins of the ``TokenManager``. A
    /// field in ``Endpoint/headers`` replaces one of the same name here.
    ///
    /// They do not go to a third party: to an endpoint whose path is an absolute URL of another origin, or to another
    /// origin that an interceptor chooses. If a third party needs a field, add it to ``Endpoint/headers``.
    public var headers: HTTPFields = [:]
    /// Decodes responses. The default reads JSON, and dates in ISO 8601, with and without fractions of a second. To
    /// change its settings, start from `JSONDecoder.martlet`, which is a new decoder each time:
    ///
    /// ```swift
    /// let decoder = JSONDecoder.martlet
    /// decoder.keyDecodingStrategy = .convertFromSnakeCase
    /// config.decoder = decoder
    /// ```
    ///
    /// `MartletJSONDecoder()` of the product MartletJSON is faster, and reads the same dates.
    public var decoder: any ResponseDecoder = JSONDecoder.martlet
    /// Encodes JSON bodies. The default writes dates in ISO 8601. Configure it before you create the client.
    public var encoder: JSONEncoder = .martlet
    /// The envelope that the server puts around its responses; `nil` if there is none.
    public var envelope: ResponseEnvelope?
    /// The type of the server's error bodies, if they have a format of their own: `config.errorBody = Problem.self`.
    ///
    /// An error response whose body decodes as this type becomes ``NetworkError/api(_:_:)``. Read the value with
    /// ``APIError/body(as:)``. For a server with an envelope, the type describes the whole envelope.
    public var errorBody: (any (Decodable & Sendable).Type)?
    /// The app's interceptors, in order. ``retry`` runs after them.
    public var interceptors: [any RequestInterceptor] = []
    /// Decides which failed requests are sent again.
    public var retry = RetryPolicy()
    /// Answers GET and HEAD calls from memory if the server allows it; `nil` asks the server each time.
    public var cache: HTTPCache?
    /// Whether a typed GET or HEAD call joins an identical one under way: one by the same user, with the same endpoint
    /// type, method, URL, header fields, cookies and settings. The default is `false`.
    ///
    /// All callers get its response or its error. Cancelling one caller does not affect the others; when the last one
    /// is cancelled, so is the request. After a call that writes has ended, a new call never joins one that started
    /// before. Calls with a ``TransferMonitor`` do not join, and neither do calls of a client with interceptors,
    /// because only the interceptors know what they will send.
    public var coalescesIdenticalCalls = false
    /// Keeps the cookies of each session; `nil` ignores cookies.
    public var cookies: CookieJar?
    /// Observers of all calls, for logs and metrics.
    public var observers: [any NetworkObserver] = []
    /// The assumed speed of uploads, in bytes per second. The default is 1,000,000. Values of zero or less count as 1.
    ///
    /// A 401 after a gigabyte wastes that gigabyte, and a single-use body cannot be sent again. Before an upload, the
    /// client therefore refreshes a token that would expire during it.
    public var uploadBytesPerSecond: Double = 1_000_000
    /// The assumed duration of an upload of unknown length. The default is 60 s.
    public var assumedUploadDuration: Duration = .seconds(60)
    /// The length, in bytes, at or above which the client asks the server before it sends the body (`Expect:
    /// 100-continue`, RFC 9110, section 10.1.1), if the transport can wait for the response
    /// (``Transport/waitsForContinue``). `nil` never asks. The default is 1 MiB.
    ///
    /// Single-use bodies are sent without asking. A server that refuses the expectation (417) would need the body
    /// again, and by then it has been consumed.
    public var expectContinueThreshold: Int64? = 1 << 20
    /// The number of redirects that one attempt follows (RFC 9110, section 15.4). The default is 10. With 0, the
    /// redirect itself is the response.
    ///
    /// The client follows redirects itself, the same on every platform. 301 and 302 turn a POST into a GET, as browsers
    /// do; 303 turns everything but HEAD into a GET; 307 and 308 repeat the request with its body. A redirect to
    /// another origin drops the token, the cookies and all other sensitive header fields of the request, except the key
    /// of ``IdempotencyKeys``. With a ``CookieJar``, the next request carries the cookies that the jar has for its own
    /// URL. The client never follows a redirect from `https` to `http`.
    public var maximumRedirects = 10
    /// The largest number of requests under way to one origin. `nil` leaves the limit to the transport; values below 1
    /// count as 1. Token refreshes do not count, and never wait. A call that an interceptor makes through the same
    /// client while the intercepted call holds a slot never waits either: it takes a slot if one is free, and otherwise
    /// runs without one.
    public var maximumConcurrentRequests: Int?
    /// Starts a session when a call requires one (``AuthenticationRequirement/required``) and the user is signed out.
    /// If it is `nil`, such a call fails with ``NetworkError/signInRequired(_:)``.
    ///
    /// The client signs in once, however many calls wait for it. If the closure throws, the waiting calls fail with its
    /// error. An error that is not a ``NetworkError`` arrives as ``NetworkError/interceptorFailed(_:_:)``. The next
    /// call signs in again. A session that the server has ended (``SessionState/expired(_:)``) is not replaced.
    ///
    /// An automatic sign-in gives way to a user. If a user signs in or out while the closure runs, or has already
    /// signed in through another process, the sign-ins of the closure fail with ``NetworkError/sessionChanged(_:)``. A
    /// user's sign-in that was sent before the closure's, and finishes later, replaces the session that the closure has
    /// started.
    ///
    /// The closure makes its calls in its own task or in child tasks. A detached task that makes a call which requires
    /// a session waits for the closure, so the closure must not wait for such a task.
    ///
    /// A call that was made while no user was signed in gets the session that is current when the closure returns or
    /// throws, and keeps it. A call of a user's session never gets another: it fails with
    /// ``NetworkError/sessionChanged(_:)``.
    ///
    /// With the product `MartletGuests`, for example:
    ///
    /// ```swift
    /// config.automaticSignIn = { client in
    ///     try await GuestAuthService(client).register(name: "Guest")
    /// }
    /// ```
    public var automaticSignIn: (@Sendable (NetworkClient) async throws -> Void)?
    /// The largest response body to read into memory, in bytes. The default is 64 MiB.
    public var maximumResponseBytes: Int = 64 << 20
    /// Whether plain `http` is allowed to hosts other than this machine. The default is `false`.
    public var allowsInsecureHTTP = false
    /// The clocks. If `nil`, those of the client's ``TokenManager``, or the system's.
    public var time: (any TimeSource)?

    /// Creates the default settings.
    public init() {}
}

extension NetworkConfig: CustomReflectable {
    /// The header fields with secrets masked, and the simple settings.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "headers": headers.redacted, "timeout": timeout, "maximumRedirects": maximumRedirects,
                "maximumResponseBytes": maximumResponseBytes, "allowsInsecureHTTP": allowsInsecureHTTP,
            ], displayStyle: .struct)
    }
}
