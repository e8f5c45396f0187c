import Foundation
import Testing

@Suite("The privacy manifest") struct PrivacyManifestTests {
    @Test("it declares a reason for each listed API the library uses, and no tracking") func reasons()
        throws
    {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let bytes = try Data(contentsOf: root.appending(path: "Sources/Martlet/PrivacyInfo.xcprivacy"))
        let manifest = try #require(
            try PropertyListSerialization.propertyList(from: bytes, format: nil) as? [String: Any])
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        #expect((manifest["NSPrivacyCollectedDataTypes"] as? [Any])?.isEmpty == true)
        let types = try #require(manifest["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        var reasons: [String: [String]] = [:]
        for type in types {
            let name = try #require(type["NSPrivacyAccessedAPIType"] as? String)
            reasons[name] = type["NSPrivacyAccessedAPITypeReasons"] as? [String]
        }
        #expect(
            reasons == [
                "NSPrivacyAccessedAPICategoryUserDefaults": ["CA92.1"],
                "NSPrivacyAccessedAPICategoryFileTimestamp": ["C617.1"],
            ])
    }
}
