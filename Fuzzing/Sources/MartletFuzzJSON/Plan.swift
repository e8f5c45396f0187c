/// The steps that a probe performs with its decoder.
indirect enum Plan {
    case keyed([KeyedStep])
    case unkeyed([UnkeyedStep])
    case single([SingleStep])
}

enum KeyedStep {
    case scalar(Scalar, String)
    case scalarIfPresent(Scalar, String)
    case type(Int, String)
    case typeIfPresent(Int, String)
    case probe(Plan, String)
    case probeIfPresent(Plan, String)
    case isNull(String)
    case contains(String)
    case allKeys
    case keyed([KeyedStep], String)
    case unkeyed([UnkeyedStep], String)
    case superDecoder(Plan)
    case superDecoderForKey(Plan, String)
}

enum UnkeyedStep {
    case scalar(Scalar)
    case scalarIfPresent(Scalar)
    case type(Int)
    case typeIfPresent(Int)
    case probe(Plan)
    case probeIfPresent(Plan)
    case isNull
    case position
    case keyed([KeyedStep])
    case unkeyed([UnkeyedStep])
    case superDecoder(Plan)
}

enum SingleStep {
    case scalar(Scalar)
    case type(Int)
    case probe(Plan)
    case isNull
}

enum Scalar: CaseIterable {
    case bool
    case string
    case double
    case float
    case int
    case int8
    case int16
    case int32
    case int64
    case int128
    case uint
    case uint8
    case uint16
    case uint32
    case uint64
    case uint128
}

extension Plan {
    static let keys = [
        "a", "b", "c", "id", "name", "createdAt", "created_at", "_private_key_", "caf\u{E9}", "cafe\u{301}", "K",
        "\u{212A}", "", "super", "q\"uote", "back\\slash", "日本語", "0", "1", "42", "line\nbreak", "eightkey",
        "ninekeyss",
        String(repeating: "long", count: 80), String(repeating: "x", count: 255), "😀", "HTTPStatus_code", "a__b",
    ]

    static func random(_ random: inout Random, depth: Int = 0) -> Plan {
        switch random.below(depth > 4 ? 1 : 6) {
        case 0: .single((0..<random.below(3) + 1).map { _ in single(&random, depth) })
        case 1, 2, 3: .keyed(keyedSteps(&random, depth))
        default: .unkeyed(unkeyedSteps(&random, depth))
        }
    }

    private static func keyedSteps(_ random: inout Random, _ depth: Int) -> [KeyedStep] {
        // Use few keys, so that they collide, and sometimes many, for large objects.
        let count = random.happens(3) ? 60 : random.below(6)
        return (0..<count).map { _ in keyed(&random, depth) }
    }

    private static func unkeyedSteps(_ random: inout Random, _ depth: Int) -> [UnkeyedStep] {
        (0..<random.below(6)).map { _ in unkeyed(&random, depth) }
    }

    private static func single(_ random: inout Random, _ depth: Int) -> SingleStep {
        switch random.below(8) {
        case 0: .isNull
        case 1, 2, 3: .type(random.below(Types.count))
        case 4 where depth < 4: .probe(.random(&random, depth: depth + 1))
        default: .scalar(random.one(of: Scalar.allCases))
        }
    }

    private static func keyed(_ random: inout Random, _ depth: Int) -> KeyedStep {
        let key = random.one(of: keys)
        switch random.below(depth > 4 ? 10 : 16) {
        case 0, 1: return .scalar(random.one(of: Scalar.allCases), key)
        case 2, 3: return .scalarIfPresent(random.one(of: Scalar.allCases), key)
        case 4, 5: return .type(random.below(Types.count), key)
        case 6: return .typeIfPresent(random.below(Types.count), key)
        case 7: return .isNull(key)
        case 8: return .contains(key)
        case 9: return .allKeys
        case 10: return .probe(.random(&random, depth: depth + 1), key)
        case 11: return .probeIfPresent(.random(&random, depth: depth + 1), key)
        case 12: return .keyed(keyedSteps(&random, depth + 1), key)
        case 13: return .unkeyed(unkeyedSteps(&random, depth + 1), key)
        case 14: return .superDecoder(.random(&random, depth: depth + 1))
        default: return .superDecoderForKey(.random(&random, depth: depth + 1), key)
        }
    }

    private static func unkeyed(_ random: inout Random, _ depth: Int) -> UnkeyedStep {
        switch random.below(depth > 4 ? 8 : 13) {
        case 0, 1: .scalar(random.one(of: Scalar.allCases))
        case 2: .scalarIfPresent(random.one(of: Scalar.allCases))
        case 3, 4: .type(random.below(Types.count))
        case 5: .typeIfPresent(random.below(Types.count))
        case 6: .isNull
        case 7: .position
        case 8: .probe(.random(&random, depth: depth + 1))
        case 9: .probeIfPresent(.random(&random, depth: depth + 1))
        case 10: .keyed(keyedSteps(&random, depth + 1))
        case 11: .unkeyed(unkeyedSteps(&random, depth + 1))
        default: .superDecoder(.random(&random, depth: depth + 1))
        }
    }
}
