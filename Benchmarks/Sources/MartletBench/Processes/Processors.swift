internal import Foundation

/// The processor cores that this process may use.
enum Processors {
    /// The package with the command that pins a process to a core.
    static let package = "util-linux"

    /// A core for the server and another one for its clients; `nil` if there are fewer, or if processes cannot be
    /// pinned here.
    static let pair: (server: Int, client: Int)? = {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") } ?? ""
        let cores = line.drop { !$0.isNumber }.split(separator: ",").flatMap { range -> [Int] in
            let bounds = range.split(separator: "-").compactMap { Int($0) }
            guard let first = bounds.first, let last = bounds.last, first <= last else { return [] }
            return [Int](first...last)
        }
        guard cores.count > 1, taskset != nil else { return nil }
        return (cores[0], cores[1])
    }()

    private static let taskset = Children.path(of: "taskset")

    /// A process that runs a program, pinned to a core if one is given.
    static func process(_ program: URL, _ arguments: [String], on core: Int?) -> Process {
        let process = Process()
        if let core, let taskset {
            process.executableURL = taskset
            process.arguments = ["-c", "\(core)", program.path] + arguments
        } else {
            process.executableURL = program
            process.arguments = arguments
        }
        return process
    }
}
