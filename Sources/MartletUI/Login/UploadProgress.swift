public import Martlet

/// How far an upload has got, for a progress bar.
public struct UploadProgress: Sendable, Hashable {
    /// Which attempt it is, from 1; 0 before anything is sent, while a picture is prepared.
    public private(set) var attempt: Int
    /// How much of the body has gone out in this attempt.
    public private(set) var sent: TransferCount

    /// An upload that has got so far.
    /// - Parameters:
    ///   - attempt: Which attempt it is, from 1; 0 before anything is sent.
    ///   - sent: How much of the body has gone out in this attempt.
    public init(attempt: Int = 0, sent: TransferCount = TransferCount()) {
        self.attempt = attempt
        self.sent = sent
    }

    /// An upload as its monitor knows it now.
    public init(_ monitor: TransferMonitor) {
        self.init(attempt: monitor.attempt, sent: monitor.sent)
    }

    /// Takes in what a `TransferMonitor` tells.
    public mutating func apply(_ event: TransferEvent) {
        switch event {
        case .attempt(let number):
            attempt = number
            sent = TransferCount()
        case .sent(let count): sent = count
        case .received: break
        }
    }

    /// From 0 to 1; `nil` where nobody knows how much there will be, or nothing has been sent yet.
    public var fraction: Double? {
        attempt > 0 && sent != TransferCount() ? sent.fraction : nil
    }

    /// What goes on, in the person's language: "Preparing…", "Sending: 40 %", "Sending again: 10 %", "Almost done…".
    public var label: String {
        guard attempt > 0 else { return Wording.preparing.text() }
        guard let fraction else { return Wording.sending.text() }
        guard fraction < 1 else { return Wording.almostDone.text() }
        let percent = String(Int(fraction * 100))
        return (attempt > 1 ? Wording.sendingAgainPercent : Wording.sendingPercent).text(percent)
    }
}
