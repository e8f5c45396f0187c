internal import Foundation
internal import NIOConcurrencyHelpers

/// The parent's handle of a worker process: sends instructions, receives reports and delivers signals.
final class WorkerProcess: Sendable {
    let name: WorkerName
    private let pid: Int32
    private let input: Int32
    private let reports: AsyncStream<WorkerReport>
    private let end: AsyncStream<Never>
    private let hasExited: NIOLockedValueBox<Bool>

    /// Starts this executable again as a worker.
    init(_ configuration: WorkerConfiguration) throws {
        let argument = String(decoding: try JSONEncoder().encode(configuration), as: UTF8.self)
        let started = try Self.program.spawn(["torture-worker", argument])
        let (end, ending) = AsyncStream<Never>.makeStream()
        let hasExited = NIOLockedValueBox(false)
        name = configuration.name
        pid = started.pid
        input = started.input
        reports = Self.reports(from: started.output) { [pid = started.pid] in
            // The process id stays reserved until `waitpid` has returned.
            hasExited.withLockedValue { hasExited in
                var status: Int32 = 0
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                hasExited = true
            }
            ending.finish()
        }
        self.end = end
        self.hasExited = hasExited
    }

    deinit {
        close(input)
    }

    var isAlive: Bool { !hasExited.withLockedValue { $0 } }

    func send(_ instruction: WorkerInstruction) {
        guard var line = try? JSONEncoder().encode(instruction) else { return }
        line.append(UInt8(ascii: "\n"))
        // If the worker is dead, the write fails and `report()` returns `nil`.
        _ = line.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
    }

    /// Waits for the next report. Returns `nil` once the worker is dead.
    func report() async -> WorkerReport? {
        for await report in reports { return report }
        return nil
    }

    /// Sends a signal, unless the process has exited and its id may have been reused.
    func signal(_ number: Int32) {
        hasExited.withLockedValue { if !$0 { kill(pid, number) } }
    }

    func waitUntilExited() async {
        for await _ in end {}
    }

    /// Reads reports on a thread of their own, until the worker closes its output.
    private static func reports(
        from output: Int32, then end: @escaping @Sendable () -> Void
    ) -> AsyncStream<WorkerReport> {
        let (reports, reporting) = AsyncStream<WorkerReport>.makeStream()
        Thread.detachNewThread {
            let decoder = JSONDecoder()
            var text = Data()
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(output, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                for line in text.takeLines(with: buffer.prefix(count)) {
                    if let report = try? decoder.decode(WorkerReport.self, from: line) { reporting.yield(report) }
                }
            }
            close(output)
            end()
            reporting.finish()
        }
        return reports
    }

    private static var program: Program {
        Program(path: Bundle.main.executablePath ?? CommandLine.arguments[0])
    }
}

extension Data {
    /// Appends bytes and removes the complete lines.
    fileprivate mutating func takeLines(with bytes: ArraySlice<UInt8>) -> [Data] {
        append(contentsOf: bytes)
        var lines: [Data] = []
        while let end = firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(Data(self[startIndex..<end]))
            self = Data(self[index(after: end)...])
        }
        return lines
    }
}
