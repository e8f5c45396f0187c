import Foundation
import MartletJSON

/// One document, one plan and one set of strategies.
struct Trial {
    let plan: Plan
    var document: [UInt8]
    private let strategies: [Int]
    private let isPatient: Bool

    init(seed: UInt64) {
        var random = Random(seed: seed)
        strategies = [random.below(5), random.below(6), random.below(6), random.below(2)]
        isPatient = random.happens(50)
        plan = .random(&random)
        var maker = DocumentMaker(random)
        document = maker.document(for: plan)
    }

    enum Judgement: Equatable {
        case same
        /// The document violates RFC 8259, and Foundation's decoder did not notice or reported another error.
        case strict
        /// An integer of 2^53 or more with a fraction or an exponent.
        case largeFraction
        /// A zero with an exponent, as in 0e4.
        case zeroWithExponent
        case different(foundation: String, martlet: String)
    }

    func judge() -> Judgement {
        let (foundation, martlet) = (decodeWithFoundation(), decodeWithMartlet())
        guard let grammar = Grammar(document) else {
            guard martlet == "invalid at []" else { return .different(foundation: "breaks RFC 8259", martlet: martlet) }
            return foundation == martlet ? .same : .strict
        }
        if foundation == martlet { return .same }
        // A named difference must begin at a value that can have it, or with the error of such a value.
        let lines = (foundation.split(separator: "\n"), martlet.split(separator: "\n"))
        let first = zip(lines.0, lines.1).first { $0 != $1 }.map { [$0, $1] } ?? []
        func isFirst(_ names: [String]) -> Bool { names.contains { name in first.contains { $0.hasPrefix(name) } } }
        if grammar.hasZeroWithExponent, isFirst(Self.floatingPointSteps) { return .zeroWithExponent }
        if grammar.hasLargeFraction, isFirst(Self.integerSteps) { return .largeFraction }
        return .different(foundation: foundation, martlet: martlet)
    }

    private static let integerSteps =
        ["int", "uint", "invalid"] + [0, 5, 6, 7, 11, 14, 15, 18, 19, 23, 25, 26, 28].map { "type \($0):" }
    private static let floatingPointSteps =
        ["double", "float", "invalid"] + [1, 4, 8, 9, 10, 14, 15, 20, 24, 29, 30].map { "type \($0):" }

    private func outcome(_ decode: (Recorder) throws -> Void) -> String {
        let recorder = Recorder(plan, isPatient: isPatient)
        do {
            try decode(recorder)
            return recorder.events.joined(separator: "\n")
        } catch {
            let text = describe(error)
            // A document that violates the grammar has the same outcome, however far the probe got.
            return text == "invalid at []" && recorder.events.isEmpty
                ? text : (recorder.events + [text]).joined(separator: "\n")
        }
    }

    private func decodeWithFoundation() -> String {
        let decoder = JSONDecoder()
        switch strategies[0] {
        case 0: decoder.dateDecodingStrategy = .secondsSince1970
        case 1: decoder.dateDecodingStrategy = .millisecondsSince1970
        case 2, 3: decoder.dateDecodingStrategy = .iso8601
        default: break
        }
        if strategies[1] == 0 { decoder.dataDecodingStrategy = .deferredToData }
        if strategies[1] == 1 { decoder.dataDecodingStrategy = .custom { Data("\($0.codingPath.count)".utf8) } }
        if strategies[2] == 0 { decoder.keyDecodingStrategy = .convertFromSnakeCase }
        if strategies[2] == 1 { decoder.keyDecodingStrategy = .custom(convert) }
        if strategies[3] == 0 {
            decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        }
        return outcome { recorder in
            decoder.userInfo[Recorder.key] = recorder
            _ = try decoder.decode(Probe.self, from: Data(document))
        }
    }

    private func decodeWithMartlet() -> String {
        var decoder = MartletJSONDecoder()
        switch strategies[0] {
        case 0: decoder.dateDecodingStrategy = .secondsSince1970
        case 1: decoder.dateDecodingStrategy = .millisecondsSince1970
        case 2, 3: decoder.dateDecodingStrategy = .iso8601
        default: break
        }
        if strategies[1] == 0 { decoder.dataDecodingStrategy = .deferredToData }
        if strategies[1] == 1 { decoder.dataDecodingStrategy = .custom { Data("\($0.codingPath.count)".utf8) } }
        if strategies[2] == 0 { decoder.keyDecodingStrategy = .convertFromSnakeCase }
        if strategies[2] == 1 { decoder.keyDecodingStrategy = .custom(convert) }
        if strategies[3] == 0 {
            decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        }
        return outcome { recorder in
            decoder.userInfo[Recorder.key] = recorder
            // Allocate no room after the document, so that a memory checker detects a read out of bounds.
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: document.count, alignment: 1)
            defer { copy.deallocate() }
            copy.copyBytes(from: document)
            _ = try decoder.decode(Probe.self, from: UnsafeRawBufferPointer(copy))
        }
    }

    /// The smallest document found that still shows the difference.
    func shrunk() -> Trial {
        var smallest = self
        var size = document.count / 2
        while size > 0 {
            var start = 0
            while start < smallest.document.count {
                var candidate = smallest
                candidate.document.removeSubrange(start..<min(start + size, candidate.document.count))
                if case .different = candidate.judge() { smallest = candidate } else { start += size }
            }
            size /= 2
        }
        return smallest
    }
}

/// Maps several keys to one.
@Sendable private func convert(_ path: [any CodingKey]) -> any CodingKey {
    let name = path.last?.stringValue ?? ""
    return Name(name.count == 1 ? "a" : name)
}
