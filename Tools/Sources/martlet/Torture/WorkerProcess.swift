internal import Foundation
internal import NIOConcurrencyHelpers

/// A worker as seen from the torture.
final class WorkerProcess: Sendable {
    let name: WorkerName
    private let pid: Int32
    private let input: Int32
    private let reports: AsyncStream<WorkerReport>
    private let end: AsyncStream<Never>
    private let isGone: NIOLockedValueBox<Bool>

    /// Starts a worker: this very program, told to be one.
    init(_ brief: WorkerBrief) throws {
        let process = Process()
        process.executableURL = Self.program
        process.arguments = ["torture-worker", String(decoding: try JSONEncoder().encode(brief), as: UTF8.self)]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output

        let (end, ending) = AsyncStream<Never>.makeStream()
        let isGone = NIOLockedValueBox(false)
        process.terminationHandler = { _ in
            isGone.withLockedValue { $0 = true }
            ending.finish()
        }
        try process.run()
        name = brief.name
        pid = process.processIdentifier
        // The handles close with their pipes at the end of this scope.
        self.input = fcntl(input.fileHandleForWriting.fileDescriptor, F_DUPFD_CLOEXEC, 0)
        self.reports = Self.reports(from: fcntl(output.fileHandleForReading.fileDescriptor, F_DUPFD_CLOEXEC, 0))
        self.end = end
        self.isGone = isGone
    }

    deinit {
        close(input)
    }

    var isAlive: Bool { !isGone.withLockedValue { $0 } }

    func send(_ order: WorkerOrder) {
        guard var line = try? JSONEncoder().encode(order) else { return }
        line.append(UInt8(ascii: "\n"))
        // A worker that is dead does not take it, and whoever waits for its report will see that.
        _ = line.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
    }

    /// The next report; `nil` once the worker is dead.
    func report() async -> WorkerReport? {
        for await report in reports { return report }
        return nil
    }

    /// Sends a signal, unless the process is gone and its number may be another's.
    func signal(_ number: Int32) {
        isGone.withLockedValue { if !$0 { kill(pid, number) } }
    }

    func waitUntilGone() async {
        for await _ in end {}
    }

    /// What comes until the worker's end. A thread waits for it: handlers of file handles have crashed here where many
    /// workers came and went.
    private static func reports(from output: Int32) -> AsyncStream<WorkerReport> {
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
            reporting.finish()
        }
        return reports
    }

    private static var program: URL {
        let path = Bundle.main.executablePath ?? CommandLine.arguments[0]
        return URL(filePath: path)
    }
}

extension Data {
    /// Appends bytes and cuts off the lines that are whole now.
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
