internal import Foundation
internal import NIOConcurrencyHelpers

/// A program that can be started many times in a row, by `posix_spawn`.
///
/// Foundation's `Process` is not used: on Linux (6.3) it reads past the end of a buffer when it lists the open descriptors,
/// which ends this process once there are many of them.
struct Program: Sendable {
    let path: String

    /// What a process was started with.
    struct Started: Sendable {
        let pid: Int32
        /// To be written to, and closed by whoever started it.
        let input: Int32
        /// To be read from, and closed by whoever started it.
        let output: Int32
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String

        fileprivate init(_ what: String, _ number: Int32) {
            description = "could not \(what): \(String(cString: strerror(number)))"
        }
    }

    /// Until its ends are marked, a pipe would be inherited by whatever else is started.
    private static let turn = NIOLock()

    /// Starts it in a process group of its own.
    func spawn(
        _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> Started {
        try Self.turn.withLock {
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
        posix_spawn_file_actions_adddup2(&actions, reading, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, writing, STDOUT_FILENO)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        posix_spawnattr_setpgroup(&attributes, 0)

        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var environment = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + environment { free(text) } }
        var pid: pid_t = 0
        let status = posix_spawn(&pid, path, &actions, &attributes, &words, &environment)
        guard status == 0 else { throw Failure("start \(path)", status) }
        return pid
    }

    private struct Pipe {
        let reading: Int32
        let writing: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { throw Failure("make a pipe", errno) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (reading, writing) = (ends[0], ends[1])
        }
    }
}
