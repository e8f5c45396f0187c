import ArgumentParser
import Foundation

/// Handles Ctrl-C and SIGTERM. Ctrl-C reaches only this program: Foundation starts each subprocess in its own process
/// group.
enum Interruption {
    // Only the signal handler writes it, and it is read as a whole.
    nonisolated(unsafe) private static var isRequested = false

    static func begin() {
        for number in [SIGINT, SIGTERM] { signal(number) { _ in Interruption.isRequested = true } }
    }

    /// Waits a moment for a program. Throws after a signal, so that the caller ends the program and cleans up.
    static func pause() throws {
        Thread.sleep(forTimeInterval: 0.2)
        if isRequested { throw ExitCode(130) }
    }

    /// Kills a program and the programs that it started, which it recognizes by a unique text in their environment.
    static func kill(_ program: Process, mentioning text: String) {
        if program.isRunning { end(program.processIdentifier) }
        for id in ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap({ pid_t($0) }) {
            guard let environment = FileManager.default.contents(atPath: "/proc/\(id)/environ") else { continue }
            if String(decoding: environment, as: UTF8.self).contains(text) { end(id) }
        }
        program.waitUntilExit()
    }

    private static func end(_ id: pid_t) {
        #if canImport(Darwin)
            Darwin.kill(id, SIGKILL)
        #else
            Glibc.kill(id, SIGKILL)
        #endif
    }
}
