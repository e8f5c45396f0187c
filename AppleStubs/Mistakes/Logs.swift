// Code that the unified logging system rejects.

internal import os

func logsText(_ logger: Logger, _ text: String) {
    logger.log(level: .info, text)  // mistake: cannot convert value of type 'String'
    logger.log(level: .info, "\(text)")
}

func logsAtUnknownLevel(_ logger: Logger) {
    logger.log(level: .warning, "late")  // mistake: has no member 'warning'
}

func hides(_ logger: Logger, _ text: String) {
    logger.log(level: .default, "\(text, privacy: .hidden)")  // mistake: has no member 'hidden'
}
