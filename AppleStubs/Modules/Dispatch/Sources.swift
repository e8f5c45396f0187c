public import ObjectiveC

// https://developer.apple.com/documentation/dispatch/dispatchsource
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
open class DispatchSource: DispatchObject {
    // https://developer.apple.com/documentation/dispatch/dispatchsource/makefilesystemobjectsource(filedescriptor:eventmask:queue:)
    public class func makeFileSystemObjectSource(
        fileDescriptor: Int32, eventMask: DispatchSource.FileSystemEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceFileSystemObject { fatalError() }

    public struct FileSystemEvent: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let delete = FileSystemEvent(rawValue: 1)
        public static let write = FileSystemEvent(rawValue: 2)
        public static let rename = FileSystemEvent(rawValue: 32)
    }
}

// https://developer.apple.com/documentation/dispatch/dispatchsourceprotocol
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
public protocol DispatchSourceProtocol: NSObjectProtocol {
    typealias DispatchSourceHandler = @Sendable () -> Void
    func setEventHandler(qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: DispatchSourceHandler?)
    func setCancelHandler(qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: DispatchSourceHandler?)
    func activate()
    func cancel()
}

// https://developer.apple.com/documentation/dispatch/dispatchsourceprotocol/seteventhandler(qos:flags:handler:)
// https://developer.apple.com/documentation/dispatch/dispatchsourceprotocol/setcancelhandler(qos:flags:handler:)
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
extension DispatchSourceProtocol {
    public func setEventHandler(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: DispatchSourceHandler?
    ) { fatalError() }
    public func setCancelHandler(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: DispatchSourceHandler?
    ) { fatalError() }
}

// https://developer.apple.com/documentation/dispatch/dispatchsourcefilesystemobject
// An SDK after Swift 6.2 added `Sendable`. Code that compiles without it compiles with both.
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
public protocol DispatchSourceFileSystemObject: DispatchSourceProtocol {}
