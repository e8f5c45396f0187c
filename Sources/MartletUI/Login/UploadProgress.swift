public import Martlet

/// The progress of an upload, for a progress bar.
public struct UploadProgress: Sendable, Hashable {
    /// The number of the current attempt, from 1; 0 while a picture is still being prepared.
    public private(set) var attempt: Int
    /// The part of the body that this attempt has sent.
    public private(set) var sent: TransferCount

    /// Creates the progress of an upload.
    /// - Parameters:
    ///   - attempt: The number of the current attempt, from 1; 0 before anything is sent.
    ///   - sent: The part of the body that this attempt has sent.
    public init(attempt: Int = 0, sent: TransferCount = TransferCount()) {
        self.attempt = attempt
        self.sent = sent
    }

    /// Creates the progress that a monitor currently reports.
    public init(_ monitor: TransferMonitor) {
        self.init(attempt: monitor.attempt, sent: monitor.sent)
    }

    /// Updates the progress with an event of a `TransferMonitor`.
    public mutating func apply(_ event: TransferEvent) {
        switch event {
        case .attempt(let number):
            attempt = number
            sent = TransferCount()
        case .sent(let count): sent = count
        case .received: break
        }
    }

    /// The sent share, from 0 to 1; `nil` if nothing has been sent yet or the total size is not known.
    public var fraction: Double? {
        attempt > 0 && sent != TransferCount() ? sent.fraction : nil
    }

    /// A description in the user's language: "Preparing…", "Sending: 40%", "Sending again: 10%", "Almost done…".
    public var label: String {
        guard attempt > 0 else { return Wording.preparing.text }
        guard let fraction else { return Wording.sending.text }
        guard fraction < 1 else { return Wording.almostDone.text }
        let percent = Int(fraction * 100)
        return (attempt > 1 ? Wording.sendingAgain(percent: percent) : .sending(percent: percent)).text
    }
}
