public import FoundationEssentials

// https://developer.apple.com/documentation/foundation/filemanager/containerurl(forsecurityapplicationgroupidentifier:)
@available(iOS 7, macOS 10.8, tvOS 9, watchOS 2, visionOS 1, *)
extension FileManager {
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? { fatalError() }
}
