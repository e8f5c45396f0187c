internal import MartletLibc

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Where lines of text are written: standard output, standard error or a closure.
struct LogOutput: Sendable {
    /// Whether lines may contain color codes (ECMA-48).
    let showsColors: Bool
    /// Writes one line, given without its line break. Called from any thread, also concurrently.
    let write: @Sendable (_ line: String) -> Void

    init(showsColors: Bool = false, write: @escaping @Sendable (_ line: String) -> Void) {
        self.showsColors = showsColors
        self.write = write
    }

    static let standardOutput = LogOutput(descriptor: STDOUT_FILENO)

    static let standardError = LogOutput(descriptor: STDERR_FILENO)

    /// Writes to an open file. Concurrent writes through this value do not interleave.
    init(descriptor: CInt, environment: [String: String] = ProcessInfo.processInfo.environment) {
        let writing = Locked(())
        self.init(showsColors: isatty(descriptor) == 1 && Self.wantsColors(environment)) { line in
            let bytes = Array("\(line)\n".utf8)
            // Write while the lock is held, so that concurrent lines do not mix, although a slow terminal may block.
            writing.withLock { _ in Self.write(bytes, to: descriptor) }
        }
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

    /// Writes the line with one system call if the file accepts it, so that the output of other processes does not
    /// split it.
    private static func write(_ bytes: [UInt8], to descriptor: CInt) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                return
            }
        }
    }
}

/// `write(2)`, which the method of that name would hide.
private func systemWrite(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
