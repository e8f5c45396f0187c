internal import Martlet
internal import NIOSSL
internal import Testing

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#else
    internal import Foundation
#endif

/// The transports that every test is run over.
enum Wire: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case asyncHTTPClient
    case urlSession

    var testDescription: String { rawValue }

    /// A transport with connections of its own.
    /// - Parameters:
    ///   - connections: How many connections to one host it may hold.
    ///   - trusting: The certificate of an authority to trust, in PEM.
    func transport(connections: Int = 64, trusting authority: String? = nil, version: HTTPVersion = .automatic) throws
        -> any Transport
    {
        switch self {
        case .asyncHTTPClient:
            var options = AsyncHTTPClientTransport.Options(
                httpVersion: version, maximumConnectionsPerHost: connections)
            if let authority {
                var configuration = TLSConfiguration.makeClientConfiguration()
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authority.utf8)))
                options.tlsConfiguration = configuration
            }
            return AsyncHTTPClientTransport(options)
        case .urlSession:
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpMaximumConnectionsPerHost = connections
            return URLSessionTransport(configuration: configuration)
        }
    }

    typealias HTTPVersion = AsyncHTTPClientTransport.Options.HTTPVersion
}

/// What one of the transports cannot do on this platform: skipped by name, each with its reason.
enum Limitation: Sendable {
    /// FoundationNetworking has no challenge for the server's trust, so no authority of a test's own can be trusted. On
    /// Apple's systems `URLSessionTransport` has no setting for one.
    case trustingAnAuthority
    /// FoundationNetworking ends the process ("no response" in `_NativeProtocol.transferCompleted`) where a server closes
    /// within the head of its answer.
    case survivingHalfAHead
    /// FoundationNetworking has no back-pressure and takes up to a second to cancel: meanwhile a server on this machine
    /// that sends without end puts gigabytes into the memory of the process.
    case leavingAnEndlessAnswer

    /// The transports that can do it.
    var wires: [Wire] { Wire.allCases.filter { $0 != .urlSession || !isMissing } }

    private var isMissing: Bool {
        #if os(Linux)
            true
        #else
            self == .trustingAnAuthority
        #endif
    }
}
