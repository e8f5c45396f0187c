internal import Foundation

/// A limit of inotify(7), and a way to reach it in this process alone.
///
/// The real limits apply to all processes of a user, so using them up would disturb programs that have nothing to do
/// with the test. A system call filter (seccomp(2)) makes the call fail in this process with the error of the real
/// limit.
enum InotifyLimit: String, CaseIterable, Sendable, Codable {
    /// `inotify_init1` fails, as when `max_user_instances` is reached.
    case instances
    /// `inotify_add_watch` fails, as when `max_user_watches` is reached.
    case watches

    /// The filter could not be installed, with the system's reason.
    struct FilterError: Error, CustomStringConvertible {
        let description: String
    }

    #if os(Linux)
        /// Whether this system supports system call filters.
        static var canBeReached: Bool {
            call.map { $0(Numbers.prctl, Numbers.getSeccomp, 0, 0, 0, 0) >= 0 } ?? false
        }

        /// Makes the call fail from now on in all threads of this process.
        func reach() throws {
            let failure = self == .instances ? EMFILE : ENOSPC
            let number = self == .instances ? Numbers.inotifyInit : Numbers.inotifyAddWatch
            // Load the number of the system call; if it is this one, return the error, else allow the call.
            var program: [UInt64] = [
                Self.instruction(0x20, 0), Self.instruction(0x15, UInt32(number), ifFalse: 1),
                Self.instruction(0x06, 0x0005_0000 | UInt32(failure)), Self.instruction(0x06, 0x7FFF_0000),
            ]
            guard let call = Self.call, call(Numbers.prctl, Numbers.noNewPrivileges, 1, 0, 0, 0) == 0 else {
                throw FilterError(description: "cannot give up privileges: \(String(cString: strerror(errno)))")
            }
            let count = program.count
            let result = program.withUnsafeMutableBytes { bytes -> Int in
                // The structure `sock_fprog`: the number of instructions, and their address.
                let header = [count, Int(bitPattern: bytes.baseAddress)]
                return header.withUnsafeBytes {
                    // Mode 1 is a filter, flag 1 means all threads.
                    call(Numbers.seccomp, 1, 1, Int(bitPattern: $0.baseAddress), 0, 0)
                }
            }
            guard result == 0 else {
                throw FilterError(description: "cannot filter system calls: \(String(cString: strerror(errno)))")
            }
        }

        /// The structure `sock_filter`: 16 bits of code, the two jumps, and a value.
        private static func instruction(_ code: UInt16, _ value: UInt32, ifFalse: UInt8 = 0) -> UInt64 {
            UInt64(code) | UInt64(ifFalse) << 24 | UInt64(value) << 32
        }

        private typealias Call = @convention(c) (Int, Int, Int, Int, Int, Int) -> Int

        /// `syscall(2)`, which Swift does not import because its number of arguments varies.
        private static var call: Call? {
            dlsym(nil, "syscall").map { unsafeBitCast($0, to: Call.self) }
        }

        /// The numbers of the system calls and of the options of `prctl(2)`.
        private enum Numbers {
            static let noNewPrivileges = 38
            static let getSeccomp = 21
            #if arch(x86_64)
                static let prctl = 157
                static let seccomp = 317
                static let inotifyInit = 294
                static let inotifyAddWatch = 254
            #else
                static let prctl = 167
                static let seccomp = 277
                static let inotifyInit = 26
                static let inotifyAddWatch = 27
            #endif
        }
    #else
        static var canBeReached: Bool { false }

        func reach() throws {
            throw FilterError(description: "only Linux has inotify")
        }
    #endif
}
