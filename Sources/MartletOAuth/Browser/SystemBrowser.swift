#if canImport(CryptoKit) || Encryption
    #if os(macOS) || os(Linux)
        internal import Martlet
        internal import MartletLibc
        internal import MartletStorage

        #if canImport(FoundationEssentials)
            internal import FoundationEssentials
        #else
            internal import Foundation
        #endif

        /// Opens the user's browser, without a shell.
        struct SystemBrowser: Sendable {
            /// The program that opens a URL: a path, or a name that is looked up in `PATH`.
            private let program: String
            private let environment: [String: String]

            #if os(macOS)
                init(
                    program: String = "/usr/bin/open",
                    environment: [String: String] = ProcessInfo.processInfo.environment
                ) {
                    self.program = program
                    self.environment = environment
                }

                private var hasScreen: Bool { true }
            #else
                init(program: String = "xdg-open", environment: [String: String] = ProcessInfo.processInfo.environment)
                {
                    self.program = program
                    self.environment = environment
                }

                /// Without a screen, `xdg-open` may start a browser in the terminal, which waits for its user.
                private var hasScreen: Bool {
                    ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].contains { environment[$0]?.isEmpty == false }
                }
            #endif

            /// Opens a page, and returns when the program has ended. Some programs end with the browser.
            /// - Throws: ``OAuthError/Kind/noBrowser``.
            func open(_ url: URL) async throws(OAuthError) {
                guard hasScreen else { throw OAuthError(noBrowser: "There is no screen: DISPLAY is not set.") }
                let status = await BlockingQueue.run { run(url.absoluteString) }
                guard status != 0 else { return }
                throw OAuthError(noBrowser: "\(program) could not open a browser (\(status)).")
            }

            /// - Returns: The exit status of the program; -1 if it was not started or was killed.
            func run(_ argument: String) -> Int32 {
                guard let process = start(argument) else { return -1 }
                return Self.exitStatus(of: process)
            }

            /// Waits for a program to end.
            /// - Returns: Its exit status; -1 if it was killed. 0 if the app has received the status itself, or has the
            ///   system discard it (`SIGCHLD` is ignored): the browser has probably opened.
            static func exitStatus(of process: pid_t) -> Int32 {
                var status: Int32 = 0
                while System.waitpid(process, &status) < 0 {
                    guard errno == EINTR else { return errno == ECHILD ? 0 : -1 }
                }
                return status & 0x7F == 0 ? status >> 8 & 0xFF : -1
            }

            func start(_ argument: String) -> pid_t? {
                #if canImport(Darwin)
                    var actions: posix_spawn_file_actions_t?
                    var attributes: posix_spawnattr_t?
                    let flags = POSIX_SPAWN_CLOEXEC_DEFAULT
                #else
                    var actions = posix_spawn_file_actions_t()
                    var attributes = posix_spawnattr_t()
                    let flags: Int32 = 0
                #endif
                posix_spawn_file_actions_init(&actions)
                posix_spawnattr_init(&attributes)
                defer {
                    posix_spawn_file_actions_destroy(&actions)
                    posix_spawnattr_destroy(&attributes)
                }
                // A process group of its own: Ctrl-C in the terminal ends this process but not the browser.
                posix_spawnattr_setpgroup(&attributes, 0)
                // The threads of Dispatch block signals, and a server ignores SIGPIPE. The program would inherit both.
                var signals = sigset_t()
                sigemptyset(&signals)
                posix_spawnattr_setsigmask(&attributes, &signals)
                sigaddset(&signals, SIGPIPE)
                posix_spawnattr_setsigdefault(&attributes, &signals)
                posix_spawnattr_setflags(
                    &attributes,
                    Int16(flags | POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
                posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
                posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
                posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
                var words = [strdup(program), strdup(argument), nil]
                var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
                defer { for text in words + variables { free(text) } }
                var process: pid_t = 0
                return posix_spawnp(&process, program, &actions, &attributes, &words, &variables) == 0 ? process : nil
            }
        }
    #endif
#endif
