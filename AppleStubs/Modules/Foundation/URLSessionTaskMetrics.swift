public import FoundationEssentials

// https://developer.apple.com/documentation/foundation/urlsessiontaskmetrics
@available(iOS 10, macOS 10.12, tvOS 10, watchOS 3, visionOS 1, *)
open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
    open var transactionMetrics: [URLSessionTaskTransactionMetrics] { [] }
    open var redirectCount: Int { 0 }
}

// https://developer.apple.com/documentation/foundation/urlsessiontasktransactionmetrics
@available(iOS 10, macOS 10.12, tvOS 10, watchOS 3, visionOS 1, *)
open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
    open var fetchStartDate: Date? { nil }
    open var domainLookupStartDate: Date? { nil }
    open var domainLookupEndDate: Date? { nil }
    open var connectStartDate: Date? { nil }
    open var connectEndDate: Date? { nil }
    open var secureConnectionStartDate: Date? { nil }
    open var secureConnectionEndDate: Date? { nil }
    open var requestStartDate: Date? { nil }
    open var requestEndDate: Date? { nil }
    open var responseStartDate: Date? { nil }
    open var responseEndDate: Date? { nil }
    open var networkProtocolName: String? { nil }
    open var isReusedConnection: Bool { false }
    @available(macOS 10.15, iOS 13.0, *)
    open var countOfRequestHeaderBytesSent: Int64 { 0 }
    @available(macOS 10.15, iOS 13.0, *)
    open var countOfRequestBodyBytesSent: Int64 { 0 }
    @available(macOS 10.15, iOS 13.0, *)
    open var countOfResponseHeaderBytesReceived: Int64 { 0 }
    @available(macOS 10.15, iOS 13.0, *)
    open var countOfResponseBodyBytesReceived: Int64 { 0 }
}
