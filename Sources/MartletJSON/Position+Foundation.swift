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
        case .iso8601OptionalFraction:
            if let text = document.plainText(value), let date = ISO8601.usualDate(text) { return date }
            let string = try String.read(self, value, step)
            guard let date = ISO8601.date(string) else {
                throw corrupted("\"\(string)\" is not an ISO 8601 date", step)
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
