/// Makes documents that mostly fit a plan, spelled in many ways.
struct DocumentMaker {
    var random: Random
    private var text = ""

    init(_ random: Random) { self.random = random }

    mutating func document(for plan: Plan) -> [UInt8] {
        text = ""
        if random.happens(1) {
            let depth = 500 + random.below(20)
            let (open, close) = (String(repeating: "[", count: depth), String(repeating: "]", count: depth))
            return Array((open + close).utf8)
        }
        space()
        write(plan)
        space()
        var bytes = Array(text.utf8)
        if random.happens(2) { bytes.insert(contentsOf: [0xEF, 0xBB, 0xBF], at: 0) }
        if random.happens(25) { for _ in 0..<random.below(3) + 1 { mutate(&bytes) } }
        return bytes
    }

    // MARK: - Values for a plan

    private mutating func write(_ plan: Plan) {
        if random.happens(3) { return anything(2) }
        switch plan {
        case .keyed(let steps): object(steps)
        case .unkeyed(let steps): array(steps)
        case .single(let steps):
            switch random.one(of: steps) {
            case .scalar(let scalar): write(scalar)
            case .type(let index): write(type: index)
            case .probe(let plan): write(plan)
            case .isNull: random.happens(50) ? text += "null" : anything(1)
            }
        }
    }

    private mutating func object(_ steps: [KeyedStep]) {
        var members: [(String, (inout DocumentMaker) -> Void)] = []
        for step in steps where !random.happens(8) {
            switch step {
            case .scalar(let scalar, let key), .scalarIfPresent(let scalar, let key):
                members.append((key, { $0.write(scalar) }))
            case .type(let index, let key), .typeIfPresent(let index, let key):
                members.append((key, { $0.write(type: index) }))
            case .probe(let plan, let key), .probeIfPresent(let plan, let key), .superDecoderForKey(let plan, let key):
                members.append((key, { $0.write(plan) }))
            case .superDecoder(let plan): members.append(("super", { $0.write(plan) }))
            case .keyed(let steps, let key): members.append((key, { $0.object(steps) }))
            case .unkeyed(let steps, let key): members.append((key, { $0.array(steps) }))
            case .isNull(let key): members.append((key, { $0.random.happens(50) ? $0.text += "null" : $0.anything(1) }))
            case .contains, .allKeys: break
            }
        }
        // Members in the order of the plan or in another one, some that the plan does not ask for, and duplicates.
        for _ in 0..<random.below(3) { members.append((random.one(of: Plan.keys), { $0.anything(1) })) }
        if random.happens(40) { members.shuffle(using: &random) }
        text += "{"
        space()
        for (index, member) in members.enumerated() {
            if index > 0 { text += "," }
            space()
            string(member.0)
            space()
            text += ":"
            space()
            random.happens(4) ? text += "null" : member.1(&self)
            space()
        }
        text += "}"
    }

    private mutating func array(_ steps: [UnkeyedStep]) {
        list(steps.count + (random.happens(10) ? random.below(3) - 1 : 0)) { maker, index in
            guard index < steps.count, !maker.random.happens(4) else { return maker.anything(1) }
            switch steps[index] {
            case .scalar(let scalar), .scalarIfPresent(let scalar): maker.write(scalar)
            case .type(let index), .typeIfPresent(let index): maker.write(type: index)
            case .probe(let plan), .probeIfPresent(let plan), .superDecoder(let plan): maker.write(plan)
            case .keyed(let steps): maker.object(steps)
            case .unkeyed(let steps): maker.array(steps)
            case .isNull, .position: maker.random.happens(50) ? maker.text += "null" : maker.anything(1)
            }
        }
    }

    private mutating func list(_ count: Int, _ element: (inout DocumentMaker, Int) -> Void) {
        text += "["
        space()
        for index in 0..<max(0, count) {
            if index > 0 { text += "," }
            space()
            element(&self, index)
            space()
        }
        text += "]"
    }

    private mutating func write(_ scalar: Scalar) {
        if random.happens(6) { return anything(1) }
        switch scalar {
        case .bool: text += random.happens(50) ? "true" : "false"
        case .string: string(Texts.random(&random))
        default: text += Numbers.random(&random)
        }
    }

    private mutating func write(type index: Int) {
        switch index {
        case 0, 1, 3...7, 25: list(random.below(5)) { maker, _ in maker.write(index == 3 ? .bool : .double) }
        case 2, 27: list(random.below(4)) { maker, _ in maker.string(Texts.random(&maker.random)) }
        case 8, 9: date()
        case 10: list(random.below(3)) { maker, _ in maker.date() }
        case 11: random.happens(60) ? string(random.one(of: Texts.base64)) : list(3) { maker, _ in maker.write(.uint8) }
        case 12, 16, 21: string(Texts.random(&random))
        case 13, 18, 19, 20, 23, 24, 26: text += Numbers.random(&random)
        case 14: person()
        case 15: list(random.below(3)) { maker, _ in maker.person() }
        case 17:
            list(random.below(3)) { maker, _ in maker.text += maker.random.one(of: ["[]", "[[]]", "[[],[[]]]", "1"]) }
        case 28...: members(random.below(random.happens(3) ? 70 : 4)) { $0.anything(1) }
        default: anything(1)
        }
    }

    private mutating func members(_ count: Int, _ value: (inout DocumentMaker) -> Void) {
        text += "{"
        for index in 0..<count {
            if index > 0 { text += "," }
            string(random.happens(30) ? "key \(index)" : random.one(of: Plan.keys))
            text += ":"
            value(&self)
        }
        text += "}"
    }

    private mutating func person() {
        var names = ["id", "name", "createdAt", "role", "tags", random.one(of: ["k", "K", "created_at"])]
        if random.happens(40) { names.shuffle(using: &random) }
        text += "{"
        for (index, name) in names.enumerated() {
            if index > 0 { text += "," }
            string(name)
            text += ":"
            switch name {
            case "id": text += "\(random.below(1000))"
            case "createdAt", "created_at": date()
            case "role": string(random.one(of: ["reader", "writer", "owner"]))
            case "tags": list(2) { maker, _ in maker.string(Texts.random(&maker.random)) }
            case "name": string(Texts.random(&random))
            default: text += Numbers.random(&random)
            }
        }
        text += "}"
    }

    private mutating func date() {
        random.happens(70) ? string(random.one(of: Texts.dates)) : (text += Numbers.random(&random))
    }

    private mutating func anything(_ depth: Int) {
        switch random.below(depth > 3 ? 5 : 7) {
        case 0: text += "null"
        case 1: text += random.happens(50) ? "true" : "false"
        case 2, 3: text += Numbers.random(&random)
        case 4: string(Texts.random(&random))
        case 5: list(random.below(4)) { maker, _ in maker.anything(depth + 1) }
        default: members(random.below(4)) { $0.anything(depth + 1) }
        }
    }

    // MARK: - Spelling

    private mutating func space() {
        if random.happens(6) { text += random.one(of: [" ", "\n", "\t", "\r\n", "  \n    "]) }
    }

    private mutating func string(_ value: String) {
        text += "\""
        let escapes = random.happens(15)
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += #"\""#
            case "\\": text += #"\\"#
            case "\n": text += random.happens(50) ? #"\n"# : #"\u000a"#
            case _ where scalar.value < 0x20 || escapes && random.happens(40): text += escaped(scalar)
            default: text.unicodeScalars.append(scalar)
            }
        }
        if random.happens(1) { text += random.one(of: [#"\ud800"#, #"\udc00x"#, #"\ud83d\u0041"#, #"\uD83D\uD83D"#]) }
        text += "\""
    }

    private mutating func escaped(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16, uppercase: random.happens(50))
            return #"\u"# + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }

    // MARK: - Damage

    private mutating func mutate(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return bytes.append(UInt8(random.below(256))) }
        let place = random.below(bytes.count)
        switch random.below(8) {
        case 0: bytes[place] ^= 1 << random.below(8)
        case 1: bytes.removeSubrange(place...)
        case 2: bytes.remove(at: place)
        case 3: bytes.insert(UInt8(random.below(256)), at: place)
        case 4: bytes[place] = random.one(of: Array(#"{}[]",:\0-.eEtfn "#.utf8))
        case 5:
            let end = min(bytes.count, place + random.below(12))
            bytes.insert(contentsOf: bytes[place..<end], at: place)
        case 6: bytes.insert(contentsOf: Array(Numbers.random(&random).utf8), at: place)
        default: bytes.insert(random.one(of: [0xC0, 0xED, 0xF4, 0x80, 0xFF, 0x00, 0x1F, 0x7F]), at: place)
        }
    }
}
