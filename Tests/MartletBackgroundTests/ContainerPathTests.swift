import Foundation
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletBackground

/// Apple asks apps not to store absolute paths: a container has a new one after an update or a restored backup.
@Suite("Stored paths", .timeLimit(.minutes(10))) struct ContainerPathTests {
    private static let app = "/var/mobile/Containers/Data/Application"
    private static let group = "/var/mobile/Containers/Shared/AppGroup"

    @Test(
        "a path is stored without its container, however the system spells both",
        arguments: ["", "/private"], ["", "/private"])
    func spellings(ofPath: String, ofContainer: String) {
        let old = ContainerPaths(home: ofContainer + Self.app + "/1", group: ofContainer + Self.group + "/1")
        let new = ContainerPaths(home: Self.app + "/2", group: Self.group + "/2")
        let film = old.portable(ofPath + Self.app + "/1/Documents/film")
        #expect(film == "~/Documents/film")
        #expect(new.path(of: film) == Self.app + "/2/Documents/film")
        let shared = old.portable(ofPath + Self.group + "/1/films/film")
        #expect(new.path(of: shared) == Self.group + "/2/films/film")
    }

    @Test("a path outside the containers stays as it is, and so does one that only begins like a container")
    func others() {
        let paths = ContainerPaths(home: Self.app + "/1", group: nil)
        for path in ["/tmp/film", "/private/tmp/film", Self.app + "/12/film", "/private/x/film", "/privatevar/film"] {
            #expect(paths.portable(path) == path)
            #expect(paths.path(of: paths.portable(path)) == path)
        }
        #expect(ContainerPaths(home: "").portable("/film") == "/film")
    }

    @Test("on a Mac, where the container of a group is in the home folder, both are told apart") func nested() {
        let old = ContainerPaths(home: "/Users/ada", group: "/Users/ada/Library/Group Containers/films")
        let new = ContainerPaths(home: "/Users/ada", group: "/Users/ada/Library/Group Containers/TEAM.films")
        #expect(
            new.path(of: old.portable("/Users/ada/Library/Group Containers/films/7"))
                == "/Users/ada/Library/Group Containers/TEAM.films/7")
        #expect(new.path(of: old.portable("/Users/ada/film")) == "/Users/ada/film")
    }

    @Test("a download into the container of the group follows it") func group() async throws {
        try await TransferWorld.withFolder { folder in
            let old = try TransferWorld(folder + "/old")
            let new = try TransferWorld(folder + "/new")
            try FileManager.default.createDirectory(atPath: old.path + "/group", withIntermediateDirectories: true)
            let session = SessionID(rawValue: "A")
            let home = folder + "/home"
            let transfers = try await old.launch(
                old.signedIn(id: session), home: home, group: old.path + "/group")
            try await transfers.download(film, to: old.path + "/group/film")
            old.daemon.forceQuit()
            try FileManager.default.copyItem(atPath: old.path, toPath: new.path)
            let events = old.daemon.state.withLock { $0.events }
            new.daemon.state.withLock { $0.events = events }
            let relaunched = try await new.launch(
                new.signedIn(id: session), home: home, group: new.path + "/group")
            await new.run(relaunched)
            #expect(new.content("group/film") == "film" && old.content("group/film") == nil)
        }
    }
}
