#if AsyncHTTPClient
    internal import AsyncHTTPClient
    internal import MartletLibc
    internal import NIOCore
    internal import NIOHTTP1
    internal import NIOHTTPCompression
    internal import NIOPosix
    internal import NIOSOCKS
    internal import NIOSSL

    extension TransportError {
        /// Converts an error of async-http-client or NIO; `CancellationError` if the task is cancelled.
        ///
        /// The reasons never contain values of header fields, which may be tokens.
        static func reason(for error: any Error) -> any Error {
            if error is CancellationError || Task.isCancelled { return CancellationError() }
            return transportError(for: error)
        }

        /// Converts an error that may have happened while the body was read.
        /// - Parameter isSent: Whether the request may have been sent. If not, an error of the network means that there
        ///   was no connection, whatever system call reported it.
        static func reason(
            for error: any Error, readingBodyOf headers: HTTPHeaders?, isSent: Bool = true
        ) -> any Error {
            if !isSent, !Task.isCancelled, let error = error as? IOError { return connecting(error) }
            let reason = reason(for: error)
            // An error of an established connection does not mean that nothing was sent.
            if isSent, case .tlsFailed(let why)? = reason as? TransportError {
                return TransportError.connectionLost(why)
            }
            guard !(reason is CancellationError), error as? NIOHTTPDecompression.DecompressionError != .limit,
                error is NIOHTTPDecompression.DecompressionError
                    || error is NIOHTTPDecompression.ExtraDecompressionError,
                let unsupported = headers?.stackedCodings?.unsupportedReason
            else { return reason }
            return TransportError.invalidResponse(unsupported)
        }

        private static func transportError(for error: any Error) -> TransportError {
            switch error {
            case let error as TransportError: error
            case let error as HTTPClientError: client(error)
            case let error as NIOConnectionError: connecting(error)
            case let error as IOError: input(error)
            case let error as SocketAddressError: address(error)
            case let error as ChannelError: channel(error)
            case let error as HTTPParserError: parser(error)
            case is NIOHTTPDecoderError: .invalidResponse("it does not match any request")
            case let error as NIOHTTPDecompression.DecompressionError:
                error == .limit
                    ? .invalidResponse("its decompressed body is too large for its compressed size")
                    : .invalidResponse("its body cannot be decompressed")
            case is NIOHTTPDecompression.ExtraDecompressionError:
                .invalidResponse("its body cannot be decompressed")
            case let error as NIOSSLError: tls(error)
            case let error as NIOSSLExtraError: tls(error)
            case let error as BoringSSLError: tls(error)
            case is SOCKSError.ConnectionFailed: .cannotConnect("the proxy refused")
            case is SOCKSError.InvalidProtocolVersion, is SOCKSError.InvalidReservedByte,
                is SOCKSError.InvalidAddressType,
                is SOCKSError.InvalidServerState, is SOCKSError.InvalidClientState:
                .cannotConnect("the proxy does not speak SOCKS 5")
            case is SOCKSError.NoValidAuthenticationMethod, is SOCKSError.InvalidAuthenticationSelection:
                .cannotConnect("the proxy requires a login")
            default: .connectionLost("\(type(of: error))")
            }
        }

        /// No byte of the request has left this device.
        private static let noConnection = TransportError.cannotConnect("no connection within the time limit")

        private static func client(_ error: HTTPClientError) -> TransportError {
            switch error {
            case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout, .socksHandshakeTimeout,
                .httpProxyHandshakeTimeout:
                noConnection
            case .deadlineExceeded, .readTimeout, .writeTimeout:
                .timedOut
            case .remoteConnectionClosed:
                .connectionLost("the server closed the connection")
            case .cancelled, .requestStreamCancelled:
                .connectionLost("the connection was closed")
            case .alreadyShutdown:
                .cannotConnect("the transport was shut down")
            case .uncleanShutdown:
                .connectionLost("the server closed the connection without ending TLS")
            case .invalidURL, .emptyHost, .emptyScheme, .missingSocketPath:
                .invalidRequest("its URL is not valid")
            case .traceRequestWithBody:
                .invalidRequest("TRACE allows no body")
            case .bodyLengthMismatch:
                .invalidRequest("the stream of the body does not have its declared length")
            case .invalidProxyResponse, .proxyAuthenticationRequired:
                .cannotConnect("the proxy refused")
            default:
                // Descriptions may contain header fields of the request; short descriptions do not.
                error.shortDescription.hasPrefix("Invalid header field")
                    ? .invalidRequest("a header field has characters that HTTP does not allow")
                    : .connectionLost(error.shortDescription)
            }
        }

        private static func connecting(_ error: NIOConnectionError) -> TransportError {
            let reasons = error.connectionErrors.map { failure in
                (failure.error as? IOError).map(connecting) ?? transportError(for: failure.error)
            }
            // Both the IPv4 and the IPv6 addresses of a host are tried. Without an IPv6 network the IPv6 attempt
            // reports that the device is offline, so an error of another attempt is preferred.
            let isOffline = { (reason: TransportError) in if case .offline = reason { true } else { false } }
            if let reason = reasons.first(where: { !isOffline($0) }) ?? reasons.first { return reason }
            return .unknownHost(error.host)
        }

        private static func connecting(_ error: IOError) -> TransportError {
            let reason = system(error.errnoCode)
            return if case .timedOut = reason { noConnection } else { reason }
        }

        private static func address(_ error: SocketAddressError) -> TransportError {
            if case .unknown(let host, _) = error { return .unknownHost(host) }
            return .cannotConnect("the host has no usable address")
        }

        /// A network that is lost after connecting has the same error codes as one that was never there. Only the text
        /// of the error tells whether the system call was `connect`.
        private static func input(_ error: IOError) -> TransportError {
            let reason = system(error.errnoCode)
            switch error.errnoCode {
            case ENETUNREACH, ENETDOWN, EHOSTUNREACH, EHOSTDOWN:
                let isConnecting =
                    error.description.contains("connect(") || error.description.contains("connect failed")
                return isConnecting ? reason : .connectionLost("the network went away")
            default:
                return reason
            }
        }

        private static func system(_ code: CInt) -> TransportError {
            switch code {
            case ENETUNREACH, ENETDOWN: .offline
            case ECONNREFUSED: .cannotConnect("connection refused")
            case EHOSTUNREACH, EHOSTDOWN: .cannotConnect("host unreachable")
            case EADDRNOTAVAIL: .cannotConnect("no local address is free")
            case EMFILE, ENFILE: .cannotConnect("too many open files")
            case EACCES, EPERM: .cannotConnect("not permitted")
            case ETIMEDOUT: .timedOut
            case ECONNRESET: .connectionLost("connection reset")
            case EPIPE, ECONNABORTED, ENOTCONN, ESHUTDOWN: .connectionLost("the connection was closed")
            default: .connectionLost("system error \(code)")
            }
        }

        private static func channel(_ error: ChannelError) -> TransportError {
            switch error {
            case .connectTimeout: noConnection
            default: .connectionLost("the connection was closed")
            }
        }

        private static func parser(_ error: HTTPParserError) -> TransportError {
            switch error {
            case .invalidEOFState, .closedConnection: .connectionLost("the response ended early")
            case .headerOverflow: .invalidResponse("its header fields are too large")
            default: .invalidResponse(error.debugDescription)
            }
        }

        private static func tls(_ error: NIOSSLError) -> TransportError {
            switch error {
            case .handshakeFailed(let error): tls(error)
            case .uncleanShutdown: .connectionLost("the server closed the connection without ending TLS")
            case .unableToValidateCertificate, .noCertificateToValidate:
                .tlsFailed("the server's certificate is not valid")
            case .failedToLoadCertificate, .failedToLoadPrivateKey, .noSuchFilesystemObject:
                .tlsFailed("a certificate or key cannot be loaded")
            default: .tlsFailed("\(error)")
            }
        }

        private static func tls(_ error: NIOSSLExtraError) -> TransportError {
            error == .failedToValidateHostname || error == .serverHostnameImpossibleToMatch
                ? .tlsFailed("the server's certificate is for another host")
                : .tlsFailed(error.description)
        }

        private static func tls(_ error: BoringSSLError) -> TransportError {
            guard case .sslError(let stack) = error else { return .tlsFailed("\(error)") }
            if stack == [.eofDuringHandshake] {
                // No byte of the request has left this device.
                return .cannotConnect(
                    "the server closed the connection in the TLS handshake, as a port for plain http may do")
            }
            // Constants of BoringSSL, as in its messages: "…:CERTIFICATE_VERIFY_FAILED at …".
            let text = stack.map(\.description).joined()
            if text.contains("CERTIFICATE_VERIFY_FAILED") {
                return .tlsFailed("the server's certificate is not trusted")
            }
            if text.contains("WRONG_VERSION_NUMBER") { return .tlsFailed("the server does not speak TLS on this port") }
            if text.contains("PROTOCOL_VERSION") { return .tlsFailed("the server and the client share no TLS version") }
            return .tlsFailed("the handshake failed")
        }
    }
#endif
