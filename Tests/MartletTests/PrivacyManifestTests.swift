import Foundation
import Testing

@Suite("The privacy manifest", .timeLimit(.minutes(10))) struct PrivacyManifestTests {
    /// The names by which Apple's list recognizes the use of an API, as far as Swift code can use them.
    /// https://developer.apple.com/documentation/bundleresources/describing-use-of-required-reason-api
    private static let listed = [
        "NSPrivacyAccessedAPICategoryFileTimestamp": [
            "fstat", "lstat", "stat", "fstatat", "getattrlist", "creationDate", "modificationDate",
            "contentModificationDateKey", "creationDateKey",
        ],
        "NSPrivacyAccessedAPICategoryUserDefaults": ["UserDefaults"],
        "NSPrivacyAccessedAPICategorySystemBootTime": ["systemUptime", "mach_absolute_time"],
        "NSPrivacyAccessedAPICategoryDiskSpace": [
            "statfs", "statvfs", "fstatfs", "fstatvfs", "systemFreeSize", "systemSize", "volumeAvailableCapacityKey",
            "volumeTotalCapacityKey",
        ],
        "NSPrivacyAccessedAPICategoryActiveKeyboards": ["activeInputModes"],
    ]

    private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Sources"

    private static func manifest() throws -> [String: Any] {
        let bytes = try Data(contentsOf: URL(filePath: root + "/Martlet/PrivacyInfo.xcprivacy"))
        return try #require(try PropertyListSerialization.propertyList(from: bytes, format: nil) as? [String: Any])
    }

    private static func reasons() throws -> [String: [String]] {
        let types = try #require(try manifest()["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        var reasons: [String: [String]] = [:]
        for type in types {
            let name = try #require(type["NSPrivacyAccessedAPIType"] as? String)
            reasons[name] = type["NSPrivacyAccessedAPITypeReasons"] as? [String]
        }
        return reasons
    }

    @Test("it declares no tracking and no collected data") func tracking() throws {
        let manifest = try Self.manifest()
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        #expect((manifest["NSPrivacyCollectedDataTypes"] as? [Any])?.isEmpty == true)
    }

    @Test(
        "it gives the reasons: defaults of the app and of its group, which only a wrapper uses; files in their containers and of the user"
    )
    func reasons() throws {
        #expect(
            try Self.reasons() == [
                "NSPrivacyAccessedAPICategoryUserDefaults": ["CA92.1", "1C8F.1", "C56D.1"],
                "NSPrivacyAccessedAPICategoryFileTimestamp": ["C617.1", "3B52.1"],
            ])
    }

    @Test("it has exactly the listed categories that the code uses") func complete() throws {
        let files = try #require(FileManager.default.enumerator(atPath: Self.root))
        var words: Set<Substring> = []
        for case let path as String in files where path.hasSuffix(".swift") {
            let code = try String(contentsOfFile: Self.root + "/" + path, encoding: .utf8)
            for line in code.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                words.formUnion(line.split { !$0.isLetter && !$0.isNumber && $0 != "_" })
            }
        }
        let used = Self.listed.filter { !$0.value.allSatisfy { !words.contains($0[...]) } }
        #expect(Set(used.keys) == Set(try Self.reasons().keys))
    }
}
