#if Encryption
    import Foundation
    import MartletTesting
    import MartletTestSupport
    import Testing

    @testable import Martlet

    @Suite("The format of encrypted files", .noBlockingCalls, .timeLimit(.minutes(10))) struct EncryptedFileFormatTests
    {
        @Test("a file with any flipped bit is rejected")
        func flippedBits() async throws {
            let coding = SealedCoding(ring: EncryptionKey.number(1).ring)
            let sealed = try await coding.seal(Data("a session".utf8), as: "session")
            #expect(try await coding.open(sealed, as: "session", at: "file") == Data("a session".utf8))
            for bit in 0..<sealed.count * 8 {
                var changed = sealed
                changed[bit / 8] ^= 1 << (bit % 8)
                let failure = await #expect(throws: StorageError.self) {
                    try await coding.open(changed, as: "session", at: "file")
                }
                #expect(failure?.kind == .corrupt, "bit \(bit)")
                #expect(failure?.description.contains("damaged or tampered with") == true, "bit \(bit)")
            }
        }

        @Test("a truncated or extended file is rejected")
        func truncation() async throws {
            let coding = SealedCoding(ring: EncryptionKey.number(1).ring)
            let sealed = try await coding.seal(Data("a session".utf8), as: "session")
            for bytes in (0..<sealed.count).map({ sealed.prefix($0) }) + [sealed + Data([0])] {
                let failure = await #expect(throws: StorageError.self) {
                    try await coding.open(bytes, as: "session", at: "file")
                }
                #expect(failure?.kind == .corrupt && failure?.description.contains("damaged or tampered with") == true)
            }
        }

        @Test("files sealed by another implementation can be opened") func vectors() async throws {
            for (key, hexadecimal) in Self.vectors {
                let bytes = try #require(Data(hexadecimal: hexadecimal))
                #expect(
                    try await SealedCoding(ring: key.ring).open(bytes, as: "value:pin", at: "file") == Data("4711".utf8)
                )
            }
        }

        private static let vectors: [(EncryptionKey, String)] = [
            (
                .number(1),
                "4d4152544c4554000101000000000000000102030405060708090a0b0c0d0e0f04be184644d7413a"
                    + "ec5ab2568666ffe96465666768696a6b6c6d6e6f2e3e5b004246914364aae2aaed53bdae409113a8"
            ),
            (
                .words("secret"),
                "4d4152544c45540001020e0801000000000102030405060708090a0b0c0d0e0fbc3291cd779333dc"
                    + "669af2a34d90dad06465666768696a6b6c6d6e6f095742379254877507787051341721be44c747e8"
            ),
        ]

        @Test(
            "key derivation costs outside the known range are rejected",
            arguments: [
                (31, 8, 1), (19, 8, 1), (17, 255, 1), (17, 8, 255), (17, 8, 0), (0, 8, 1), (13, 8, 1), (255, 8, 1),
            ]
                as [(UInt8, UInt8, UInt8)])
        func hostileCosts(logN: UInt8, r: UInt8, p: UInt8) async throws {
            let key = EncryptionKey.words("secret")
            let coding = SealedCoding(ring: key.ring)
            let sealed = try await coding.seal(Data("a session".utf8), as: "session").withHeader {
                ($0[10], $0[11], $0[12]) = (logN, r, p)
            }
            let failure = await #expect(throws: StorageError.self) {
                try await coding.open(sealed, as: "session", at: "file")
            }
            #expect(failure?.kind == .corrupt)
            #expect(failure?.description.contains("tampered with: it asks for a key") == true)
        }

        @Test(
            "unknown key kinds and nonzero reserved bytes are rejected", arguments: [(9, 0), (9, 3), (13, 1), (15, 1)])
        func hostileHeader(index: Int, value: UInt8) async throws {
            let coding = SealedCoding(ring: EncryptionKey.number(1).ring)
            let sealed = try await coding.seal(Data(), as: "session").withHeader { $0[index] = value }
            await #expect(throws: StorageError.self) { try await coding.open(sealed, as: "session", at: "file") }
        }

        @Test("a file with a cheap key is read, and the next write uses the configured cost") func cheaperKey()
            async throws
        {
            let cheap = EncryptionKey.words("secret", logN: 14)
            let dear = EncryptionKey.words("secret", logN: 15)
            let sealed = try await SealedCoding(ring: cheap.ring).seal(Data("a session".utf8), as: "session")
            let coding = SealedCoding(ring: dear.ring)
            #expect(try await coding.open(sealed, as: "session", at: "file") == Data("a session".utf8))
            #expect(try await coding.seal(Data(), as: "session")[10] == 15)
        }
    }

    extension Data {
        fileprivate init?(hexadecimal: String) {
            var bytes: [UInt8] = []
            var rest = Substring(hexadecimal)
            while !rest.isEmpty {
                guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
                bytes.append(byte)
                rest = rest.dropFirst(2)
            }
            self.init(bytes)
        }
    }
#endif
