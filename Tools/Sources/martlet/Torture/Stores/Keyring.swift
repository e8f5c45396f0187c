internal import Foundation
internal import Martlet

/// A private session bus with an unlocked keyring on it, in a temporary folder.
///
/// GLib supports one session bus in a process, so all tests share one keyring and use a service of their own in it.
final class Keyring: Sendable {
    private let folder: URL
    private let program: Program.Started

    static let packages = "gnome-keyring, dbus and libsecret (apt: gnome-keyring dbus libsecret-1-0)"

    static var isInstalled: Bool {
        #if os(Linux)
            let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            return ["dbus-daemon", "gnome-keyring-daemon"].allSatisfy { name in
                folders.contains { access("\($0)/\(name)", X_OK) == 0 }
            }
        #else
            return false
        #endif
    }

    /// The error of a keyring that did not start.
    struct StartError: Error, CustomStringConvertible {
        let description: String
    }

    /// Calls `body` while the keyring runs. The processes that `body` starts use it, too.
    static func withRunning<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        let keyring = try Keyring()
        do {
            try await keyring.waitUntilReady()
            let value = try await body()
            await keyring.stop()
            return value
        } catch {
            await keyring.stop()
            throw error
        }
    }

    /// Starts the programs, and makes this process and its children use them.
    private init() throws {
        // The path of a socket may have 107 bytes at most.
        let name = "keyring-" + UUID().uuidString.prefix(8)
        folder = FileManager.default.temporaryDirectory.appending(path: name)
        for each in ["", "run", "data"] {
            try FileManager.default.createDirectory(
                at: folder.appending(path: each), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
        let address = "unix:path=\(folder.path)/bus"
        try Self.configuration(address).write(
            to: folder.appending(path: "bus.conf"), atomically: true, encoding: .utf8)
        setenv("DBUS_SESSION_BUS_ADDRESS", address, 1)
        let variables = [
            "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path + "/run", "XDG_DATA_HOME": folder.path + "/data",
            "XDG_CONFIG_HOME": folder.path + "/config", "XDG_CACHE_HOME": folder.path + "/cache",
            "DBUS_SESSION_BUS_ADDRESS": address,
        ]
        do {
            program = try Program(path: "/bin/sh").spawn(
                ["-c", Self.script, "sh", folder.path],
                environment: ProcessInfo.processInfo.environment.merging(variables) { $1 })
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
    }

    private static func configuration(_ address: String) -> String {
        """
        <busconfig>
          <type>session</type>
          <listen>\(address)</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
          </policy>
        </busconfig>
        """
    }

    /// Runs the programs until its standard input is closed: by ``stop()``, or because this process has died.
    private static let script = """
        exec 2>/dev/null
        dbus-daemon --config-file="$1/bus.conf" --nofork --nopidfile </dev/null >&2 &
        bus=$!
        trap 'kill $bus $keyring; wait' EXIT
        until [ -S "$1/bus" ]; do kill -0 $bus || exit 1; sleep 0.02; done
        printf password >"$1/password"
        gnome-keyring-daemon --foreground --components=secrets --unlock <"$1/password" >&2 &
        keyring=$!
        read -r _
        """

    private func waitUntilReady() async throws {
        #if os(Linux)
            let storage: AnySecureStorage = .secretService(service: "org.martlet.torture")
            let start = ContinuousClock.now
            while true {
                do {
                    return try await storage.save(Data(), for: "probe")
                } catch {
                    // The default keyring appears shortly after the service.
                    if start.duration(to: .now) > .seconds(30) { throw StartError(description: "\(error)") }
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
        #endif
    }

    /// Ends the programs and waits until they have exited.
    private func stop() async {
        let (folder, program) = (folder, program)
        // Use a detached task: a cancelled task would not wait.
        await Task.detached {
            close(program.input)
            var status: Int32 = 0
            while waitpid(program.pid, &status, 0) < 0, errno == EINTR {}
            close(program.output)
            try? FileManager.default.removeItem(at: folder)
        }.value
    }
}
