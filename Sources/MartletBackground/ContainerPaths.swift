/// The containers of the app's files. The system may move a container when it updates the app or restores the device,
/// so a stored path has a placeholder instead of the container's path.
struct ContainerPaths: Sendable {
    /// A container and its placeholder in stored paths.
    private struct Container {
        let placeholder: String
        let path: String
    }

    /// The container of the app group comes first: on macOS it is inside the user's home folder.
    private let containers: [Container]

    /// The folders that Apple's systems name with or without `/private` in front, because they are links.
    private static let linked = ["/var/", "/tmp/", "/etc/"]

    /// - Parameters:
    ///   - home: The folder of the user, or the container of the app; empty if there is none.
    ///   - group: The container of the app group; `nil` if the app uses none.
    init(home: String, group: String? = nil) {
        let known = [
            group.map { Container(placeholder: "~group/", path: $0) }, Container(placeholder: "~/", path: home),
        ]
        containers = known.compactMap(\.self).filter { !$0.path.isEmpty }
    }

    /// The stored form of a path.
    func portable(_ path: String) -> String {
        let plain = Self.withoutPrivate(path)
        for container in containers {
            let start = Self.withoutPrivate(container.path) + "/"
            if plain.hasPrefix(start) { return container.placeholder + plain.dropFirst(start.count) }
        }
        return path
    }

    /// The current path for a stored form.
    func path(of stored: String) -> String {
        for container in containers where stored.hasPrefix(container.placeholder) {
            return container.path + "/" + stored.dropFirst(container.placeholder.count)
        }
        return stored
    }

    private static func withoutPrivate(_ path: String) -> String {
        let prefix = "/private"
        guard path.hasPrefix(prefix) else { return path }
        let rest = String(path.dropFirst(prefix.count))
        return linked.contains { rest.hasPrefix($0) } ? rest : path
    }
}
