// https://developer.apple.com/documentation/foundation/progress
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
open class Progress: NSObject, @unchecked Sendable {
    public convenience init(totalUnitCount unitCount: Int64) { fatalError() }
    open var totalUnitCount: Int64 {
        get { fatalError() }
        set { fatalError() }
    }
    open var completedUnitCount: Int64 {
        get { fatalError() }
        set { fatalError() }
    }
    open var isCancellable: Bool {
        get { fatalError() }
        set { fatalError() }
    }
    open var isPausable: Bool {
        get { fatalError() }
        set { fatalError() }
    }
}
