internal import Foundation
internal import NIOConcurrencyHelpers

/// An executable that can be started many times with `posix_spawn`.
///
/// Foundation's `Process` cannot be used: on Linux (6.3) it reads past the end of a buffer when it lists the open
/// descriptors, which crashes this process once it has many of them.
struct Program: Sendable {
    let path: String

    /// A started process and the pipes to it.
    struct Started: Sendable {
        let pid: Int32
        /// The write end of its standard input. The caller closes it.
        let input: Int32
        /// The read end of its standard output. The caller closes it.
        let output: Int32
    }

    /// The error of a failed system call, with the system's reason.
    struct SpawnError: Error, CustomStringConvertible {
        let description: String

        fileprivate init(_ what: String, _ number: Int32) {
            description = "cannot \(what): \(String(cString: strerror(number)))"
        }
    }

    /// Held while pipes are created and marked close-on-exec. Another child would inherit pipes that are not marked
    /// yet.
    private static let spawnLock = NIOLock()

    /// Starts the executable in a new process group.
    func spawn(
        _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> Started {
        try Self.spawnLock.withLock {
            let input = try Pipe()
            let output = try Pipe()
            defer {
                close(input.reading)
                close(output.writing)
            }
            do {
                return Started(
                    pid: try start(arguments, environment, reading: input.reading, writing: output.writing),
                    input: input.writing, output: output.reading)
            } catch {
                close(input.writing)
                close(output.reading)
                throw error
            }
        }
    }

    private func start(
        _ arguments: [String], _ environment: [String: String], reading: Int32, writing: Int32
    ) throws -> Int32 {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawnattr_setflags(&attributes, Self.connect(&actions, reading: reading, writing: writing))
        posix_spawnattr_setpgroup(&attributes, 0)
        // A thread may block signals, and this process may ignore them. A shell that cannot receive SIGCHLD waits
        // forever, and a program that ignores SIGTERM cannot be ended with it.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)

        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var environment = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + environment { free(text) } }
        var pid: pid_t = 0
        let status = posix_spawn(&pid, path, &actions, &attributes, &words, &environment)
        guard status == 0 else { throw SpawnError("start \(path)", status) }
        return pid
    }

    #if canImport(Darwin)
        private typealias FileActions = posix_spawn_file_actions_t?
    #else
        private typealias FileActions = posix_spawn_file_actions_t
    #endif

    /// Connects the pipes to the child, and closes all other descriptors. A child that inherits a connection of a
    /// server in this process would keep it open after the server has closed it.
    /// - Returns: The flags for spawning the child.
    private static func connect(_ actions: inout FileActions, reading: Int32, writing: Int32) -> Int16 {
        posix_spawn_file_actions_adddup2(&actions, reading, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, writing, STDOUT_FILENO)
        let flags = Int16(POSIX_SPAWN_SETPGROUP) | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
        #if canImport(Darwin)
            posix_spawn_file_actions_addinherit_np(&actions, STDERR_FILENO)
            return flags | Int16(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #else
            // Closing a descriptor that is not open is not an error, up to the limit of open files, which is at least
            // 1024.
            for descriptor in (STDERR_FILENO + 1)..<1024 {
                posix_spawn_file_actions_addclose(&actions, descriptor)
            }
            return flags
        #endif
    }

    /// The two ends of a pipe, both close-on-exec.
    private struct Pipe {
        let reading: Int32
        let writing: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { throw SpawnError("make a pipe", errno) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (reading, writing) = (ends[0], ends[1])
        }
    }
}
