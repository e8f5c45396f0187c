#if canImport(os)
    public import os

    extension NetworkObserver where Self == LogObserver {
        /// Tells of every attempt in one line to the unified logging system.
        ///
        /// ```swift
        /// config.observers = [.logger(Logger(subsystem: "com.example.app", category: "network"))]
        /// ```
        ///
        /// Secrets are masked, as for any observer. What a person could be known by (``LogLine/target`` and ``LogLine/note``)
        /// is private besides: it is shown where a debugger is attached, and elsewhere only a hash of it.
        /// - Parameters:
        ///   - logger: Takes the lines, each with the level of its own.
        ///   - level: What matters less than this is left out.
        ///   - showsTargets: Whether paths, queries and notes are shown to everybody who reads the log.
        public static func logger(
            _ logger: Logger, level: LogLine.Level = .info, showsTargets: Bool = false
        ) -> LogObserver {
            LogObserver(level: level) { line in
                let level = line.level.osLogType
                // Privacy is part of a message at compile time, so that there have to be two.
                if showsTargets || line.personalText.isEmpty {
                    logger.log(level: level, "\(line.description, privacy: .public)")
                } else {
                    logger.log(
                        level: level,
                        "\(line.openText, privacy: .public) \(line.personalText, privacy: .private(mask: .hash))")
                }
            }
        }
    }

    extension LogLine.Level {
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
