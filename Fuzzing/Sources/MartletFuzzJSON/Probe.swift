import Foundation

/// A key with any name.
struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// The results of a probe, and the plan of the next one. A document is decoded on one thread.
final class Recorder: @unchecked Sendable {
    static let key = CodingUserInfoKey(rawValue: "recorder").unsafelyUnwrapped
    var events: [String] = []
    var plan: Plan
    /// For each step, whether a failed step ends the probe.
    var isPatient: Bool

    init(_ plan: Plan, isPatient: Bool) {
        self.plan = plan
        self.isPatient = isPatient
    }

    func step(_ name: String, _ body: () throws -> String) throws {
        do {
            events.append("\(name): \(try body())")
        } catch {
            guard isPatient else { throw error }
            events.append("\(name): \(describe(error))")
        }
    }
}

/// The kind of an error, its type, its path and its text. For an invalid document, the text is left out, because
/// Martlet's also names the position.
func describe(_ error: any Error) -> String {
    func path(_ keys: [any CodingKey]) -> String {
        keys.map { "\($0.stringValue.debugDescription)/\($0.intValue.map(String.init) ?? "-")" }.joined(separator: " ")
    }
    func place(_ context: DecodingError.Context) -> String {
        "at [\(path(context.codingPath))] \(context.debugDescription)"
    }
    switch error {
    // Foundation has no text here.
    case DecodingError.typeMismatch(let type, let context) where type == Decimal.self:
        return "typeMismatch Decimal at [\(path(context.codingPath))]"
    case DecodingError.typeMismatch(let type, let context): return "typeMismatch \(type) \(place(context))"
    case DecodingError.valueNotFound(let type, let context): return "valueNotFound \(type) \(place(context))"
    case DecodingError.keyNotFound(let key, let context): return "keyNotFound \(key.stringValue) \(place(context))"
    case DecodingError.dataCorrupted(let context):
        return context.debugDescription.hasPrefix("The given data was not valid JSON.")
            ? "invalid at [\(path(context.codingPath))]" : "dataCorrupted \(place(context))"
    default: return "invalid value"
    }
}

/// Follows the recorder's plan.
struct Probe: Decodable {
    init(from decoder: any Decoder) throws {
        guard let recorder = decoder.userInfo[Recorder.key] as? Recorder else { return }
        try Self.follow(recorder.plan, decoder, recorder)
    }

    static func follow(_ plan: Plan, _ decoder: any Decoder, _ recorder: Recorder) throws {
        switch plan {
        case .keyed(let steps):
            let container = try decoder.container(keyedBy: Name.self)
            for step in steps { try follow(step, container, recorder) }
        case .unkeyed(let steps):
            var container = try decoder.unkeyedContainer()
            for step in steps { try follow(step, &container, recorder) }
        case .single(let steps):
            let container = try decoder.singleValueContainer()
            for step in steps { try follow(step, container, recorder) }
        }
    }

    /// Probes that the body decodes follow this plan.
    private static func with<Value>(_ plan: Plan, _ recorder: Recorder, _ body: () throws -> Value) rethrows -> Value {
        let outer = recorder.plan
        recorder.plan = plan
        defer { recorder.plan = outer }
        return try body()
    }

    private static func type(_ index: Int, _ recorder: Recorder, _ source: some Source) throws {
        var source = source
        if Types.isUnordered(index) {
            recorder.events.append("type \(index): \((try? Types.read(index, from: &source)) ?? "fails")")
        } else {
            try recorder.step("type \(index)") { try Types.read(index, from: &source) }
        }
    }

    private static func probe(_ plan: Plan, _ recorder: Recorder, _ decode: () throws -> Probe?) throws -> String {
        try with(plan, recorder, decode) == nil ? "nil" : "done"
    }

    /// Follows a plan in the decoder of a superclass.
    private static func follow(_ plan: Plan, inside decoder: any Decoder, _ recorder: Recorder) throws -> String {
        try with(plan, recorder) { try follow(plan, decoder, recorder) }
        return "done"
    }

    private static func follow(
        _ steps: [KeyedStep], _ container: KeyedDecodingContainer<Name>, _ recorder: Recorder
    ) throws -> String {
        for step in steps { try follow(step, container, recorder) }
        return "done"
    }

    private static func follow(
        _ steps: [UnkeyedStep], _ container: any UnkeyedDecodingContainer, _ recorder: Recorder
    ) throws -> String {
        var container = container
        for step in steps { try follow(step, &container, recorder) }
        return "done"
    }

    /// The bytes of all keys. One of two equal strings may be in composed and one in decomposed form.
    private static func names(in container: KeyedDecodingContainer<Name>) -> [String] {
        container.allKeys.map(\.stringValue.precomposedStringWithCanonicalMapping.utf8)
            .map { Array($0).description }.sorted()
    }

    private static func follow(
        _ step: KeyedStep, _ container: KeyedDecodingContainer<Name>, _ recorder: Recorder
    ) throws {
        switch step {
        case .scalar(let scalar, let key):
            try recorder.step("\(scalar)") { try container.text(scalar, Name(key)) }
        case .scalarIfPresent(let scalar, let key):
            try recorder.step("\(scalar)?") { try container.textIfPresent(scalar, Name(key)) }
        case .type(let index, let key):
            try type(index, recorder, KeyedSource(container: container, key: Name(key), isOptional: false))
        case .typeIfPresent(let index, let key):
            try type(index, recorder, KeyedSource(container: container, key: Name(key), isOptional: true))
        case .probe(let plan, let key):
            try recorder.step("probe") {
                try probe(plan, recorder) { try container.decode(Probe.self, forKey: Name(key)) }
            }
        case .probeIfPresent(let plan, let key):
            try recorder.step("probe?") {
                try probe(plan, recorder) { try container.decodeIfPresent(Probe.self, forKey: Name(key)) }
            }
        case .isNull(let key): try recorder.step("null") { "\(try container.decodeNil(forKey: Name(key)))" }
        case .contains(let key): recorder.events.append("contains: \(container.contains(Name(key)))")
        case .allKeys:
            recorder.events.append("keys: \(names(in: container)) at \(container.codingPath.map(\.stringValue))")
        case .keyed(let steps, let key):
            try recorder.step("keyed") {
                try follow(steps, container.nestedContainer(keyedBy: Name.self, forKey: Name(key)), recorder)
            }
        case .unkeyed(let steps, let key):
            try recorder.step("unkeyed") {
                try follow(steps, container.nestedUnkeyedContainer(forKey: Name(key)), recorder)
            }
        case .superDecoder(let plan):
            try recorder.step("super") { try follow(plan, inside: container.superDecoder(), recorder) }
        case .superDecoderForKey(let plan, let key):
            try recorder.step("super for key") {
                try follow(plan, inside: container.superDecoder(forKey: Name(key)), recorder)
            }
        }
    }

    private static func follow(
        _ step: UnkeyedStep, _ container: inout any UnkeyedDecodingContainer, _ recorder: Recorder
    ) throws {
        switch step {
        case .scalar(let scalar): try recorder.step("\(scalar)") { try container.text(scalar) }
        case .scalarIfPresent(let scalar): try recorder.step("\(scalar)?") { try container.textIfPresent(scalar) }
        case .type(let index), .typeIfPresent(let index):
            let isOptional = if case .typeIfPresent = step { true } else { false }
            // The source works on a copy, so advance the container past the element afterwards.
            let source = UnkeyedSource(container: container, isOptional: isOptional)
            defer { container = source.container }
            try type(index, recorder, source)
        case .probe(let plan):
            try recorder.step("probe") { try probe(plan, recorder) { try container.decode(Probe.self) } }
        case .probeIfPresent(let plan):
            try recorder.step("probe?") {
                try probe(plan, recorder) { try container.decodeIfPresent(Probe.self) }
            }
        case .isNull: try recorder.step("null") { "\(try container.decodeNil())" }
        case .position:
            let path = container.codingPath.map(\.stringValue)
            recorder.events.append(
                "\(container.currentIndex) of \(container.count ?? -1) \(container.isAtEnd) at \(path)")
        case .keyed(let steps):
            try recorder.step("keyed") {
                try follow(steps, container.nestedContainer(keyedBy: Name.self), recorder)
            }
        case .unkeyed(let steps):
            try recorder.step("unkeyed") { try follow(steps, container.nestedUnkeyedContainer(), recorder) }
        case .superDecoder(let plan):
            try recorder.step("super") { try follow(plan, inside: container.superDecoder(), recorder) }
        }
    }

    private static func follow(
        _ step: SingleStep, _ container: any SingleValueDecodingContainer, _ recorder: Recorder
    ) throws {
        switch step {
        case .scalar(let scalar): try recorder.step("\(scalar)") { try container.text(scalar) }
        case .type(let index): try type(index, recorder, SingleSource(container: container))
        case .probe(let plan):
            try recorder.step("probe") { try probe(plan, recorder) { try container.decode(Probe.self) } }
        case .isNull: recorder.events.append("null: \(container.decodeNil())")
        }
    }
}

private struct KeyedSource: Source {
    let container: KeyedDecodingContainer<Name>
    let key: Name
    let isOptional: Bool

    func read<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        isOptional ? try container.decodeIfPresent(type, forKey: key) : try container.decode(type, forKey: key)
    }
}

/// A class, because the container changes as it advances.
private final class UnkeyedSource: Source {
    var container: any UnkeyedDecodingContainer
    let isOptional: Bool

    init(container: any UnkeyedDecodingContainer, isOptional: Bool) {
        self.container = container
        self.isOptional = isOptional
    }

    func read<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        isOptional ? try container.decodeIfPresent(type) : try container.decode(type)
    }
}

private struct SingleSource: Source {
    let container: any SingleValueDecodingContainer

    func read<Value: Decodable>(_ type: Value.Type) throws -> Value? { try container.decode(type) }
}
