import Foundation
import Martlet
import MartletTesting
import Testing

@testable import MartletAdoption

/// The records that `make_records.py` writes.
enum Records {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Records")

    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { !$0.hasPrefix(".") }.sorted()
    }()

    static func data(_ name: String) throws -> Data {
        try Data(contentsOf: folder.appendingPathComponent(name))
    }
}

/// A reader of this module.
enum Library: String, CaseIterable {
    case appauth, gtmappauth, auth0, firebase, supabase, amplify

    /// The reader of a record's library. The hostile archives claim to be AppAuth's.
    init(record name: String) throws {
        let prefix = name.split(separator: "-").first.map(String.init)
        self = prefix == "hostile" ? .appauth : try #require(Library(rawValue: prefix ?? ""))
    }

    var former: FormerLibrary {
        switch self {
        case .appauth: .appAuth
        case .gtmappauth: .gtmAppAuth
        case .auth0: .auth0
        case .firebase: .firebase
        case .supabase: .supabase
        case .amplify: .amplify
        }
    }

    func read(_ data: Data) throws(AdoptionError) -> any LibraryRecord {
        try former.record(data)
    }

    /// The record of the library with the most fields.
    var fullest: String {
        switch self {
        case .appauth: "appauth-full.plist"
        case .gtmappauth: "gtmappauth-full.plist"
        case .auth0: "auth0-full.plist"
        case .firebase: "firebase-full.plist"
        case .supabase: "supabase-full.json"
        case .amplify: "amplify-both-pools.json"
        }
    }
}
