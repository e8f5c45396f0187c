#if Encryption
    import Foundation

    @testable import Martlet

    @testable import MartletStorage

    extension EncryptionKey {
        /// A key made of one repeated byte.
        static func number(_ number: UInt8) -> EncryptionKey {
            let text = Data(repeating: number, count: 32).base64EncodedString()
            return EncryptionKey(.environment("KEY", .key), environment: { ["KEY": text] }, cost: .standard)
        }

        /// A passphrase with a low derivation cost.
        static func words(_ passphrase: Secret, logN: UInt8 = 14) -> EncryptionKey {
            EncryptionKey(
                .passphrase(passphrase), environment: { [:] }, cost: ScryptCost(logN: logN, r: 8, p: 1))
        }
    }

    extension Data {
        /// The same file with a changed header and a matching digest, as an attacker who knows the format could make
        /// it.
        func withHeader(_ change: (inout Data) -> Void) -> Data {
            var file = self
            change(&file)
            file.replaceSubrange(40..<48, with: SealedFile.digest(of: file.prefix(40)))
            return file
        }
    }
#endif
