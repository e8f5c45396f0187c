public import FoundationEssentials

// https://developer.apple.com/documentation/foundation/urlerror
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
public struct URLError: Error {
    public var code: URLError.Code { fatalError() }
    public var downloadTaskResumeData: Data? { fatalError() }
    public var backgroundTaskCancelledReason: URLError.BackgroundTaskCancelledReason? { fatalError() }

    // https://developer.apple.com/documentation/foundation/urlerror/backgroundtaskcancelledreason-swift.enum
    public enum BackgroundTaskCancelledReason: Int, Sendable {
        case userForceQuitApplication
        case backgroundUpdatesDisabled
        case insufficientSystemResources
    }

    // https://developer.apple.com/documentation/foundation/urlerror/code-swift.struct
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static var appTransportSecurityRequiresSecureConnection: Code { Code(rawValue: -1022) }
        public static var badServerResponse: Code { Code(rawValue: -1011) }
        public static var badURL: Code { Code(rawValue: -1000) }
        public static var callIsActive: Code { Code(rawValue: -1019) }
        public static var cancelled: Code { Code(rawValue: -999) }
        public static var cannotConnectToHost: Code { Code(rawValue: -1004) }
        public static var cannotDecodeContentData: Code { Code(rawValue: -1016) }
        public static var cannotDecodeRawData: Code { Code(rawValue: -1015) }
        public static var cannotFindHost: Code { Code(rawValue: -1003) }
        public static var cannotParseResponse: Code { Code(rawValue: -1017) }
        public static var clientCertificateRejected: Code { Code(rawValue: -1205) }
        public static var clientCertificateRequired: Code { Code(rawValue: -1206) }
        public static var dataLengthExceedsMaximum: Code { Code(rawValue: -1103) }
        public static var dataNotAllowed: Code { Code(rawValue: -1020) }
        public static var dnsLookupFailed: Code { Code(rawValue: -1006) }
        public static var httpTooManyRedirects: Code { Code(rawValue: -1007) }
        public static var internationalRoamingOff: Code { Code(rawValue: -1018) }
        public static var networkConnectionLost: Code { Code(rawValue: -1005) }
        public static var notConnectedToInternet: Code { Code(rawValue: -1009) }
        public static var redirectToNonExistentLocation: Code { Code(rawValue: -1010) }
        public static var requestBodyStreamExhausted: Code { Code(rawValue: -1021) }
        public static var secureConnectionFailed: Code { Code(rawValue: -1200) }
        public static var serverCertificateHasBadDate: Code { Code(rawValue: -1201) }
        public static var serverCertificateHasUnknownRoot: Code { Code(rawValue: -1203) }
        public static var serverCertificateNotYetValid: Code { Code(rawValue: -1204) }
        public static var serverCertificateUntrusted: Code { Code(rawValue: -1202) }
        public static var timedOut: Code { Code(rawValue: -1001) }
        public static var unsupportedURL: Code { Code(rawValue: -1002) }
        public static var zeroByteResource: Code { Code(rawValue: -1014) }
    }
}
