#if os(Linux)
    import Foundation
    import MartletTesting
    import Testing

    @testable import Martlet

    @testable import MartletStorage

    /// A private session bus and keyring in a test's own folder.
    ///
    /// GLib supports one session bus per process, so each desktop is used by its own child process of the test.
    final class Desktop: Sendable {
        static let isMissing: Comment = "install gnome-keyring dbus libsecret-1-0"
        static let isInstalled =
            (try? LibSecret.system.get()) != nil
            && ["gnome-keyring-daemon", "dbus-daemon", "dbus-send"].allSatisfy { Tool.path(of: $0) != nil }

        private let folder: String
        private let bus = Locked<Tool?>(nil)
        private let keyring = Locked<Tool?>(nil)

        /// Calls `body` with a folder for a desktop, and kills the desktop's processes afterwards even if `body` threw
        /// or crashed.
        static func withFolder(_ body: (String) async throws -> Void) async throws {
            try await TemporaryFolder.with { folder in
                defer { Tool.killAll(mentioning: folder.path) }
                try await body(folder.path)
            }
        }

        /// Makes this process use a desktop in the folder, without starting anything.
        init(_ folder: String) throws {
            self.folder = folder
            setenv("DBUS_SESSION_BUS_ADDRESS", address, 1)
            for name in ["run", "data"] {
                try FileManager.default.createDirectory(
                    atPath: "\(folder)/\(name)", withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
            }
            let configuration = """
                <busconfig>
                  <type>session</type>
                  <listen>\(address)</listen>
                  <auth>EXTERNAL</auth>
                  <policy context="default">
                    <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
                  </policy>
                </busconfig>
                """
            try configuration.write(toFile: "\(folder)/bus.conf", atomically: true, encoding: .utf8)
        }

        private var address: String { "unix:path=\(folder)/bus" }

        private var environment: [String: String] {
            [
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": folder,
                "XDG_RUNTIME_DIR": "\(folder)/run", "XDG_DATA_HOME": "\(folder)/data",
                "XDG_CONFIG_HOME": "\(folder)/config", "XDG_CACHE_HOME": "\(folder)/cache",
                "DBUS_SESSION_BUS_ADDRESS": address,
            ]
        }

        /// Starts a bus with no services.
        func startBus() async throws {
            try? FileManager.default.removeItem(atPath: "\(folder)/bus")
            let tool = try Tool(
                "dbus-daemon", ["--config-file=\(folder)/bus.conf", "--nofork", "--nopidfile"], environment)
            bus.withLock { $0 = tool }
            try await wait(for: "org.freedesktop.DBus", from: tool)
        }

        /// Starts a keyring. If `unlocked`, a missing keyring is created; otherwise it stays locked.
        func startKeyring(unlocked: Bool = true) async throws {
            let tool = try Tool(
                "gnome-keyring-daemon",
                ["--foreground", "--components=secrets"] + (unlocked ? ["--unlock"] : []), environment,
                input: unlocked ? "a password" : "")
            keyring.withLock { $0 = tool }
            try await wait(for: "org.freedesktop.secrets", from: tool)
            guard unlocked else { return }
            // The daemon's name appears on the bus shortly before its keyrings do.
            let service = "/org/freedesktop/secrets"
            while try await !ask("secrets", service, "Secret.Service.ReadAlias", "string:default").contains("/login") {
                try #require(tool.isRunning, "\(tool.name) exited")
            }
        }

        func stopBus() async {
            await bus.withLock { $0.take() }?.kill()
        }

        func stopKeyring() async {
            await keyring.withLock { $0.take() }?.kill()
        }

        func stop() async {
            await stopKeyring()
            await stopBus()
        }

        /// Stops the keyring process until `thawKeyring()`.
        func freezeKeyring() { keyring.withLock { $0 }?.signal(SIGSTOP) }
        func thawKeyring() { keyring.withLock { $0 }?.signal(SIGCONT) }

        func lockKeyring() async throws {
            _ = try await ask(
                "secrets", "/org/freedesktop/secrets", "Secret.Service.Lock",
                "array:objpath:/org/freedesktop/secrets/collection/login")
        }

        private func wait(for name: String, from tool: Tool) async throws {
            while try await !ask("DBus", "/", "DBus.NameHasOwner", "string:\(name)").contains("boolean true") {
                try #require(tool.isRunning, "\(tool.name) exited")
            }
        }

        /// The reply of a service on the bus, or an empty text if no service replies.
        private func ask(_ name: String, _ path: String, _ method: String, _ argument: String) async throws -> String {
            let tool = try Tool(
                "dbus-send",
                [
                    "--session", "--print-reply", "--dest=org.freedesktop.\(name)", path, "org.freedesktop.\(method)",
                    argument,
                ], environment)
            return await tool.output()
        }
    }

    /// A running program.
    private final class Tool: Sendable {
        let name: String
        private let id: pid_t
        private let ended = Gate()
        private let hasEnded = Locked(false)
        private let standardOutput = Pipe()

        static func path(of name: String) -> String? {
            (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
                .first { access($0, X_OK) == 0 }
        }

        init(_ name: String, _ arguments: [String], _ environment: [String: String], input: String = "") throws {
            self.name = name
            let process = Process()
            process.executableURL = URL(fileURLWithPath: try #require(Self.path(of: name)))
            process.arguments = arguments
            process.environment = environment
            let standardInput = Pipe()
            process.standardInput = standardInput
            process.standardOutput = standardOutput
            process.standardError = FileHandle.nullDevice
            process.terminationHandler = { [ended, hasEnded] _ in
                hasEnded.withLock { $0 = true }
                ended.open()
            }
            try process.run()
            id = process.processIdentifier
            try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
            try standardInput.fileHandleForWriting.close()
            try standardInput.fileHandleForReading.close()
        }

        var isRunning: Bool { !hasEnded.withLock { $0 } }

        /// Waits for the program to exit. Use it for little output only, because nothing reads the pipe before.
        func output() async -> String {
            await ended.pass()
            let output = standardOutput.fileHandleForReading.readDataToEndOfFile()
            try? standardOutput.fileHandleForReading.close()
            return String(decoding: output, as: UTF8.self)
        }

        func signal(_ signal: Int32) {
            if isRunning { Glibc.kill(id, signal) }
        }

        func kill() async {
            signal(SIGKILL)
            await ended.pass()
            try? standardOutput.fileHandleForReading.close()
        }

        /// Kills all processes whose environment contains a text, and their descendants with it.
        static func killAll(mentioning text: String) {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            for id in names.compactMap({ pid_t($0) }) {
                guard let environment = FileManager.default.contents(atPath: "/proc/\(id)/environ") else { continue }
                if String(decoding: environment, as: UTF8.self).contains(text) { Glibc.kill(id, SIGKILL) }
            }
        }
    }
#endif
