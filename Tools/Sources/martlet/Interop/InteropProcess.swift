internal import Dispatch
internal import Foundation

/// A child process whose output is read.
struct InteropProcess: Sendable {
    private let started: Program.Started

    init(_ path: String, _ arguments: [String]) throws {
        var environment = ProcessInfo.processInfo.environment
        // Leave the servers' folder as it is in the repository.
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        started = try Program(path: path).spawn(arguments, environment: environment)
    }

    /// The next line of the output; `nil` if the process has closed it.
    func line() async -> String? {
        await onThread { [started] in
            var text: [UInt8] = []
            var byte: UInt8 = 0
            while Self.read(started.output, &byte, 1) == 1 {
                if byte == UInt8(ascii: "\n") { return String(decoding: text, as: UTF8.self) }
                text.append(byte)
            }
            return nil
        }
    }

    /// Writes to the input of the process.
    /// - Returns: `false` if the process has closed it.
    func write(_ bytes: Data) async -> Bool {
        await onThread { [started] in
            var left = bytes[...]
            while !left.isEmpty {
                let count = left.withUnsafeBytes { Foundation.write(started.input, $0.baseAddress, $0.count) }
                guard count >= 0 || errno == EINTR else { return false }
                left = left.dropFirst(max(0, count))
            }
            return true
        }
    }

    /// Closes the input of the process, and waits until it has exited.
    /// - Returns: The rest of its output, and its exit code.
    @discardableResult
    func finish() async -> (output: Data, status: Int32) {
        await onThread { [started] in
            close(started.input)
            var output = Data()
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = Self.read(started.output, &buffer, buffer.count), count > 0 {
                output.append(contentsOf: buffer[..<count])
            }
            close(started.output)
            var status: Int32 = 0
            while waitpid(started.pid, &status, 0) < 0, errno == EINTR {}
            return (output, status)
        }
    }

    private static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ size: Int) -> Int {
        while true {
            let count = Foundation.read(descriptor, buffer, size)
            if count >= 0 || errno != EINTR { return count }
        }
    }

    /// Runs blocking code on a thread of its own.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
