#if !os(Linux) || URLSession || !AsyncHTTPClient
    internal import Foundation

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    extension TransportError {
        /// What an error of `URLSession` means.
        /// - Parameters:
        ///   - error: What the session said.
        ///   - host: The host that was called.
        ///   - hasHead: Whether the head of the answer was there before.
        init(_ error: any Error, host: String, hasHead: Bool) {
            guard let error = error as? URLError else {
                self = .connectionLost("\(type(of: error))")
                return
            }
            self = Self.refined(error, hasHead: hasHead) ?? Self.general(error, host: host)
        }

        private static func general(_ error: URLError, host: String) -> TransportError {
            switch error.code {
            case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
                .offline
            case .cannotFindHost, .dnsLookupFailed:
                .cannotConnect("unknown host \(host)")
            case .cannotConnectToHost:
                .cannotConnect("connection refused, or the host is unreachable")
            case .networkConnectionLost:
                .connectionLost("the connection was lost")
            case .timedOut:
                .timedOut
            case .cancelled:
                .connectionLost("the session was invalidated")
            case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot:
                .tlsFailed("the server's certificate is not trusted, or for another host")
            case .serverCertificateHasBadDate, .serverCertificateNotYetValid:
                .tlsFailed("the server's certificate is not valid at this time")
            case .clientCertificateRejected, .clientCertificateRequired:
                .tlsFailed("the server wants another certificate of the client")
            case .secureConnectionFailed:
                .tlsFailed("the handshake failed")
            case .appTransportSecurityRequiresSecureConnection:
                .invalidRequest("App Transport Security forbids http")
            case .badURL, .unsupportedURL:
                .invalidRequest("its URL is not valid")
            case .dataLengthExceedsMaximum:
                // Both Foundations say so of a GET with a body, too.
                .invalidRequest("its body is too large for its method")
            case .requestBodyStreamExhausted:
                .connectionLost("the session had to send the body again, which can be read only once")
            case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
                .zeroByteResource, .httpTooManyRedirects, .redirectToNonExistentLocation:
                .invalidResponse("it is not HTTP as it should be")
            default:
                .connectionLost("URLError \(error.code.rawValue)")
            }
        }
    }
#endif
