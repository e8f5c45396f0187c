#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// Where lines of text go.
///
/// ```swift
/// config.observers = [.console(to: .standardOutput)]
/// config.observers = [.curl(to: LogOutput { print($0) })]
/// ```
public struct LogOutput: Sendable {
    /// Whether lines may have colours.
    public let showsColours: Bool
    /// Writes one line; its line end is not in it.
    public let write: @Sendable (_ line: String) -> Void

    /// Lines that a closure takes.
    /// - Parameters:
    ///   - showsColours: Whether lines may have colours, in the codes of ECMA-48.
    ///   - write: Writes one line; its line end is not in it. Calls come from any thread, and may overlap.
    public init(showsColours: Bool = false, write: @escaping @Sendable (_ line: String) -> Void) {
        self.showsColours = showsColours
        self.write = write
    }

    /// The process's standard output. There are colours where it is a terminal, unless the environment has a `NO_COLOR`
    /// that is not empty, or names no terminal, or a `dumb` one. Xcode's console shows none, and apps on a phone, a watch or
    /// the like have none.
    public static let standardOutput = LogOutput(descriptor: STDOUT_FILENO)

    /// The process's standard error, with colours as on ``standardOutput``.
    public static let standardError = LogOutput(descriptor: STDERR_FILENO)

    /// Lines for a file that is open. Each is written whole, whoever else writes through this value.
    init(descriptor: CInt, environment: [String: String] = ProcessInfo.processInfo.environment) {
        let turn = Locked(())
        self.init(showsColours: isatty(descriptor) == 1 && Self.wantsColours(environment)) { line in
            let bytes = Array("\(line)\n".utf8)
            // Under the lock, though a slow terminal may keep it waiting: there is no other way to keep lines whole.
            turn.withLock { _ in Self.write(bytes, to: descriptor) }
        }
    }

    /// Whether a person wants colours on a terminal (no-color.org), and it can show them.
    static func wantsColours(_ environment: [String: String]) -> Bool {
        #if canImport(Darwin) && !os(macOS)
            // Xcode gives an app a terminal that is none.
            return false
        #else
            return (environment["NO_COLOR"] ?? "").isEmpty && !["", "dumb"].contains(environment["TERM"] ?? "")
                && !isXcode(environment)
        #endif
    }

    /// Whether the terminal is Xcode's console, which shows the codes themselves. Since Xcode 16 its environment has the
    /// first of these, before it had the other, with a name that tells.
    private static func isXcode(_ environment: [String: String]) -> Bool {
        environment["__XCODE_BUILT_PRODUCTS_DIR_PATHS"] != nil
            || environment["XPC_SERVICE_NAME"]?.split(separator: ".").contains("Xcode") == true
    }

    /// One call for the whole line, so that other processes do not come in between; more only where the file takes less.
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

/// `write(2)`, which would be hidden by the method of that name.
private func systemWrite(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
