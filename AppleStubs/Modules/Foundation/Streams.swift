public import ObjectiveC

// https://developer.apple.com/documentation/foundation/stream
@available(iOS 2, macOS 10.3, tvOS 9, watchOS 2, visionOS 1, *)
open class Stream: NSObject {
    public enum Status: UInt, Sendable {
        case notOpen = 0
        case opening
        case open
        case reading
        case writing
        case atEnd
        case closed
        case error
    }

    public struct Event: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static var openCompleted: Event { Event(rawValue: 1) }
        public static var hasBytesAvailable: Event { Event(rawValue: 2) }
        public static var hasSpaceAvailable: Event { Event(rawValue: 4) }
        public static var errorOccurred: Event { Event(rawValue: 8) }
        public static var endEncountered: Event { Event(rawValue: 16) }
    }

    open func open() { fatalError() }
    open func close() { fatalError() }
    unowned(unsafe) open var delegate: (any StreamDelegate)?
    open var streamStatus: Stream.Status { fatalError() }

    // https://developer.apple.com/documentation/foundation/stream/getboundstreams(withbuffersize:inputstream:outputstream:)
    // Apple uses `AutoreleasingUnsafeMutablePointer`, which needs Objective-C. `&stream` converts to both types.
    open class func getBoundStreams(
        withBufferSize bufferSize: Int, inputStream: UnsafeMutablePointer<InputStream?>?,
        outputStream: UnsafeMutablePointer<OutputStream?>?
    ) { fatalError() }
}

// https://developer.apple.com/documentation/foundation/inputstream
@available(iOS 2, macOS 10.3, tvOS 9, watchOS 2, visionOS 1, *)
open class InputStream: Stream {}

// https://developer.apple.com/documentation/foundation/outputstream
@available(iOS 2, macOS 10.3, tvOS 9, watchOS 2, visionOS 1, *)
open class OutputStream: Stream {
    open func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int { fatalError() }
    open var hasSpaceAvailable: Bool { fatalError() }
}

// https://developer.apple.com/documentation/foundation/streamdelegate
@available(iOS 2, macOS 10.3, tvOS 9, watchOS 2, visionOS 1, *)
public protocol StreamDelegate: NSObjectProtocol {
    func stream(_ aStream: Stream, handle eventCode: Stream.Event)
}
