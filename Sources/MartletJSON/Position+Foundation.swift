#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension Position {
    func date(_ value: UInt32, _ step: Step) throws -> Date {
        if document.isNull(value) { throw missing(Date.self, step) }
        switch document.strategies.date {
        case .deferredToDate:
            return Date(timeIntervalSinceReferenceDate: try Double.read(self, value, step))
        case .secondsSince1970:
            return Date(timeIntervalSince1970: try Double.read(self, value, step))
        case .millisecondsSince1970:
            return Date(timeIntervalSince1970: try Double.read(self, value, step) / 1000)
        case .iso8601:
            if let text = document.plainText(value), let date = ISO8601.date(text) { return date }
            let string = try String.read(self, value, step)
            guard let date = try? Date.ISO8601FormatStyle().parse(string) else {
                let text = "Expected date string to be ISO8601-formatted."
                throw DecodingError.dataCorrupted(.init(codingPath: decoderPath, debugDescription: text))
            }
            return date
        case .custom(let read):
            return try withChild(value, step) { try read($0) }
        }
    }

    func data(_ value: UInt32, _ step: Step) throws -> Data {
        if document.isNull(value) { throw missing(Data.self, step) }
        switch document.strategies.data {
        case .deferredToData:
            return try withChild(value, step) { try Data(from: $0) }
        case .base64:
            guard let data = Data(base64Encoded: try String.read(self, value, step)) else {
                throw corrupted("Encountered Data is not valid Base64.", step)
            }
            return data
        case .custom(let read):
            return try withChild(value, step) { try read($0) }
        }
    }

    func url(_ value: UInt32, _ step: Step) throws -> URL {
        if document.isNull(value) { throw missing(URL.self, step) }
        guard let url = URL(string: try String.read(self, value, step)) else {
            throw corrupted("Invalid URL string.", step)
        }
        return url
    }

    func decimal(_ value: UInt32, _ step: Step) throws -> Decimal {
        if document.isNull(value) { throw missing(Decimal.self, step) }
        guard document.number(value).isNumber else { throw mismatch(Decimal.self, at: value, step) }
        guard let decimal = Decimal(string: document.number(value).string) else { throw UnrepresentableValue() }
        return decimal
    }
}

/// The form of a date that almost every server sends: `2026-01-31T23:59:59Z`.
enum ISO8601 {
    /// `nil` for every other form, also for dates before the Gregorian calendar and for leap seconds.
    static func date(_ text: UnsafeBufferPointer<UInt8>) -> Date? {
        guard text.count == 20, let bytes = text.baseAddress, bytes[4] == Byte.minus, bytes[7] == Byte.minus,
            bytes[10] == UInt8(ascii: "T"), bytes[13] == Byte.colon, bytes[16] == Byte.colon,
            bytes[19] == UInt8(ascii: "Z"),
            let century = number(bytes), let yearOfCentury = number(bytes + 2), let month = number(bytes + 5),
            let day = number(bytes + 8), let hour = number(bytes + 11), let minute = number(bytes + 14),
            let second = number(bytes + 17)
        else { return nil }
        let year = century * 100 + yearOfCentury
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let february = isLeapYear ? 29 : 28
        let lastDay = month == 2 ? february : month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31
        guard year >= 1583, 1...12 ~= month, 1...lastDay ~= day, hour < 24, minute < 60, second < 60 else { return nil }
        // Years that start in March end with the leap day.
        let shiftedYear = month > 2 ? year : year - 1
        let shiftedMonth = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
        let days = 365 * shiftedYear + shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400 + dayOfYear - 719_468
        return Date(timeIntervalSince1970: Double(days * 86_400 + hour * 3_600 + minute * 60 + second))
    }

    /// Two digits.
    @inline(__always)
    private static func number(_ bytes: UnsafePointer<UInt8>) -> Int? {
        let (tens, ones) = (Byte.digit(bytes[0]), Byte.digit(bytes[1]))
        return tens < 10 && ones < 10 ? Int(tens) * 10 + Int(ones) : nil
    }
}
