#if canImport(os)
    public import os

    extension NetworkObserver where Self == LogObserver {
        /// Logs each attempt as one line to the unified logging system.
        ///
        /// ```swift
        /// config.observers = [.logger(Logger(subsystem: "com.example.app", category: "network"))]
        /// ```
        ///
        /// Secrets are masked. Paths, queries and error texts can identify a person and are private by default: the log
        /// shows a hash of them, unless a debugger is attached.
        /// - Parameters:
        ///   - logger: Receives the lines, each with its own level.
        ///   - level: Lines below this level are left out.
        ///   - showsTargets: Whether paths, queries and error texts are public.
        ///   - showsMetrics: Whether a line contains the ``TransferMetrics`` of the attempt.
        public static func logger(
            _ logger: Logger, level: LogObserver.Level = .info, showsTargets: Bool = false, showsMetrics: Bool = false
        ) -> LogObserver {
            LogObserver(level: level, showsMetrics: showsMetrics) { line in
                let level = line.level.osLogType
                // The privacy of a message is fixed at compile time, so there are two messages.
                if showsTargets || line.personalText.isEmpty {
                    logger.log(level: level, "\(line.description, privacy: .public)")
                } else {
                    logger.log(
                        level: level,
                        "\(line.impersonalText, privacy: .public) \(line.personalText, privacy: .private(mask: .hash))")
                }
            }
        }
    }

    extension LogObserver.Level {
        fileprivate var osLogType: OSLogType {
            switch self {
            case .debug: .debug
            case .info: .info
            case .notice: .default
            case .error: .error
            }
        }
    }
#endif
