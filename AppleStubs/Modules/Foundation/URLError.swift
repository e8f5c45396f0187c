// https://developer.apple.com/documentation/foundation/urlerror
public struct URLError: Error {
    public var code: URLError.Code { fatalError() }

    // https://developer.apple.com/documentation/foundation/urlerror/code-swift.struct
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static var appTransportSecurityRequiresSecureConnection: Code { fatalError() }
        public static var badServerResponse: Code { fatalError() }
        public static var badURL: Code { fatalError() }
        public static var callIsActive: Code { fatalError() }
        public static var cancelled: Code { fatalError() }
        public static var cannotConnectToHost: Code { fatalError() }
        public static var cannotDecodeContentData: Code { fatalError() }
        public static var cannotDecodeRawData: Code { fatalError() }
        public static var cannotFindHost: Code { fatalError() }
        public static var cannotParseResponse: Code { fatalError() }
        public static var clientCertificateRejected: Code { fatalError() }
        public static var clientCertificateRequired: Code { fatalError() }
        public static var dataLengthExceedsMaximum: Code { fatalError() }
        public static var dataNotAllowed: Code { fatalError() }
        public static var dnsLookupFailed: Code { fatalError() }
        public static var httpTooManyRedirects: Code { fatalError() }
        public static var internationalRoamingOff: Code { fatalError() }
        public static var networkConnectionLost: Code { fatalError() }
        public static var notConnectedToInternet: Code { fatalError() }
        public static var redirectToNonExistentLocation: Code { fatalError() }
        public static var requestBodyStreamExhausted: Code { fatalError() }
        public static var secureConnectionFailed: Code { fatalError() }
        public static var serverCertificateHasBadDate: Code { fatalError() }
        public static var serverCertificateHasUnknownRoot: Code { fatalError() }
        public static var serverCertificateNotYetValid: Code { fatalError() }
        public static var serverCertificateUntrusted: Code { fatalError() }
        public static var timedOut: Code { fatalError() }
        public static var unsupportedURL: Code { fatalError() }
        public static var zeroByteResource: Code { fatalError() }
    }
}
