internal import MartletLibc

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The destination of lines of text: standard output, standard error or a closure.
struct LogOutput: Sendable {
    /// Whether lines may contain color codes (ECMA-48).
    let showsColors: Bool
    /// Writes one line, given without its line break. Called from any thread, even concurrently.
    let write: @Sendable (_ line: String) -> Void

    init(showsColors: Bool = false, write: @escaping @Sendable (_ line: String) -> Void) {
        self.showsColors = showsColors
        self.write = write
    }

    static let standardOutput = LogOutput(descriptor: STDOUT_FILENO)

    static let standardError = LogOutput(descriptor: STDERR_FILENO)

    /// Writes to an open file, on a thread that may block. Concurrent writes through this value do not interleave.
    ///
    /// The process writes the last lines before it exits.
    init(descriptor: CInt, environment: [String: String] = ProcessInfo.processInfo.environment) {
        let lines = LogLines(descriptor)
        self.init(showsColors: isatty(descriptor) == 1 && Self.wantsColors(environment)) { lines.add($0) }
    }

    /// Returns when all lines so far are written to their files.
    static func flush() async {
        await LogLines.queue.run {}
    }

    /// Whether the user wants colors (no-color.org) and the terminal can show them.
    static func wantsColors(_ environment: [String: String]) -> Bool {
        #if canImport(Darwin) && !os(macOS)
            // An app that Xcode starts on a device has a terminal that shows the codes as text.
            return false
        #else
            return (environment["NO_COLOR"] ?? "").isEmpty && !["", "dumb"].contains(environment["TERM"] ?? "")
                && !isXcode(environment)
        #endif
    }

    /// Whether the terminal is Xcode's console, which shows the codes as text. Xcode 16 and later set the first
    /// variable, earlier versions the second one.
    private static func isXcode(_ environment: [String: String]) -> Bool {
        environment["__XCODE_BUILT_PRODUCTS_DIR_PATHS"] != nil
            || environment["XPC_SERVICE_NAME"]?.split(separator: ".").contains("Xcode") == true
    }
}

/// The lines of an open file that are not written yet.
private final class LogLines: Sendable {
    private struct State {
        var waiting: [String] = []
        /// The number of dropped lines.
        var lost = 0
    }

    /// Limits memory use while the terminal blocks, for example because it is paused.
    private static let maximum = 10_000

    fileprivate static let queue = BlockingQueue("martlet.log")

    /// Writes the last lines when the process exits.
    private static let writesAtExit: Bool = atexit { LogLines.queue.wait {} } == 0

    private let descriptor: CInt
    private let state = Locked(State())

    init(_ descriptor: CInt) {
        self.descriptor = descriptor
        _ = Self.writesAtExit
    }

    func add(_ line: String) {
        let isFirst = state.withLock { state in
            guard state.waiting.count < Self.maximum else {
                state.lost += 1
                return false
            }
            state.waiting.append(line)
            return state.waiting.count == 1
        }
        if isFirst { Self.queue.start { self.writeAll() } }
    }

    private func writeAll() {
        var (lines, lost) = state.withLock { state in
            defer { state = State() }
            return (state.waiting, state.lost)
        }
        if lost > 0 { lines.append("\(lost) lines were not written, because the output was blocked.") }
        for line in lines { write(Array("\(line)\n".utf8)) }
    }

    /// Writes the line with one system call if the file accepts it, so that the output of other processes does not
    /// split it.
    private func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { System.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Another process has made the shared output non-blocking. Wait as for any other.
                var output = [pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)]
                if System.poll(&output, timeout: -1) < 0, errno != EINTR { return }
            } else if errno != EINTR {
                return
            }
        }
    }
}
