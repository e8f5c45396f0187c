// Switches that do not expect the cases of later systems.

internal import ImageIO

func forgetsLaterStatuses(_ status: CGImageSourceStatus) -> Bool {
    switch status {  // mistake: may have additional unknown values
    case .statusComplete: true
    case .statusIncomplete, .statusReadingHeader, .statusUnknownType, .statusInvalidData, .statusUnexpectedEOF: false
    }
}
