#if !os(Linux) || URLSession || !AsyncHTTPClient
    internal import Foundation

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    extension TransportError {
        /// Converts an error of `URLSession`.
        /// - Parameters:
        ///   - error: The error.
        ///   - host: The host of the request.
        ///   - hasHead: Whether the head of the response has arrived.
        ///   - hasSent: Whether a part of the request may have reached the server.
        ///   - codings: The content codings that the response announces.
        init(_ error: any Error, host: String, hasHead: Bool, hasSent: Bool, codings: ContentCodings? = nil) {
            guard let error = error as? URLError else {
                self = .connectionLost("\(type(of: error))")
                return
            }
            self = Self.refined(error, hasHead: hasHead) ?? Self.general(error, host: host)
            if Self.isUndecodable(error), let reason = codings?.unsupportedReason { self = .invalidResponse(reason) }
            // The error is the same whether the network was lost during the exchange or was missing from the start.
            if case .offline = self, hasHead || hasSent { self = .connectionLost("the network went away") }
        }

        private static func general(_ error: URLError, host: String) -> TransportError {
            switch error.code {
            case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
                .offline
            case .cannotFindHost, .dnsLookupFailed:
                .unknownHost(host)
            case .cannotConnectToHost:
                .cannotConnect("connection refused, or the host is unreachable")
            case .networkConnectionLost:
                .connectionLost("the connection was lost")
            case .timedOut:
                .timedOut
            case .cancelled:
                .connectionLost("the session was invalidated")
            case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot:
                .tlsFailed("the server's certificate is not trusted, or is for another host")
            case .serverCertificateHasBadDate, .serverCertificateNotYetValid:
                .tlsFailed("the server's certificate is not valid at this time")
            case .clientCertificateRejected, .clientCertificateRequired:
                .tlsFailed("the server rejected the client certificate, or requires one")
            case .secureConnectionFailed:
                .tlsFailed("the handshake failed")
            case .appTransportSecurityRequiresSecureConnection:
                .invalidRequest("App Transport Security forbids http")
            case .badURL, .unsupportedURL:
                .invalidRequest("its URL is not valid")
            case .dataLengthExceedsMaximum:
                // Both versions of Foundation also report this for a GET with a body.
                .invalidRequest("its body is too large for its method")
            case .requestBodyStreamExhausted:
                .connectionLost("the session had to send the body again, but it can be read only once")
            case .badServerResponse, .cannotParseResponse, .zeroByteResource, .httpTooManyRedirects,
                .redirectToNonExistentLocation:
                .invalidResponse("it is not valid HTTP")
            case .cannotDecodeRawData, .cannotDecodeContentData:
                .invalidResponse("its body cannot be decompressed")
            default:
                .connectionLost("URLError \(error.code.rawValue)")
            }
        }
    }
#endif
