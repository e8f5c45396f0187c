/// The containers in which the app's files are. The system may move one when it updates the app or restores the device,
/// so a stored path names the container instead of its place.
struct ContainerPaths: Sendable {
    /// A container and the sign that stands for it in stored paths.
    private struct Container {
        let sign: String
        let path: String
    }

    /// The container of the app group comes first: on macOS it is inside the user's home folder.
    private let containers: [Container]

    /// The folders that Apple's systems spell with and without `/private` in front. They are links there.
    private static let linked = ["/var/", "/tmp/", "/etc/"]

    /// - Parameters:
    ///   - home: The folder of the user, or the container of the app; empty if there is none.
    ///   - group: The container of the app group; `nil` if the app uses none.
    init(home: String, group: String? = nil) {
        let known = [group.map { Container(sign: "~group/", path: $0) }, Container(sign: "~/", path: home)]
        containers = known.compactMap(\.self).filter { !$0.path.isEmpty }
    }

    /// The form of a path that is stored.
    func portable(_ path: String) -> String {
        let plain = Self.withoutPrivate(path)
        for container in containers {
            let start = Self.withoutPrivate(container.path) + "/"
            if plain.hasPrefix(start) { return container.sign + plain.dropFirst(start.count) }
        }
        return path
    }

    /// The path that has this stored form now.
    func path(of stored: String) -> String {
        for container in containers where stored.hasPrefix(container.sign) {
            return container.path + "/" + stored.dropFirst(container.sign.count)
        }
        return stored
    }

    private static func withoutPrivate(_ path: String) -> String {
        let sign = "/private"
        guard path.hasPrefix(sign) else { return path }
        let rest = String(path.dropFirst(sign.count))
        return linked.contains { rest.hasPrefix($0) } ? rest : path
    }
}
