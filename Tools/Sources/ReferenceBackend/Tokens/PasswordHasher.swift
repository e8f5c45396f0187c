import Crypto
import CryptoExtras
import Foundation
import NIOPosix

/// Hashes passwords with scrypt and a random salt, on threads that may block.
struct PasswordHasher: Sendable {
    let cost: PasswordHashing

    private static let saltSize = 16
    private static let keySize = 32

    /// Returns the stored form of a hash: algorithm, parameters, salt and key.
    func hash(_ password: String) async throws -> String {
        let salt = RandomBytes.make(Self.saltSize)
        let key = try await derive(password, salt: salt, cost: cost)
        let parameters = "\(cost.logCost)$\(cost.blockSize)$\(cost.parallelism)"
        return "scrypt$\(parameters)$\(salt.base64URL)$\(key.base64URL)"
    }

    /// Compares a password with a stored hash. Without one it takes as long, so that the response time does not reveal
    /// which addresses have an account.
    func verify(_ password: String, against stored: String?) async throws -> Bool {
        guard let stored else {
            _ = try await hash(password)
            return false
        }
        let parts = stored.split(separator: "$")
        guard parts.count == 6, parts[0] == "scrypt", let logCost = Int(parts[1]), let blockSize = Int(parts[2]),
            let parallelism = Int(parts[3]), let salt = [UInt8](base64URL: parts[4]),
            let expected = [UInt8](base64URL: parts[5])
        else { return false }
        let cost = PasswordHashing(logCost: logCost, blockSize: blockSize, parallelism: parallelism)
        return constantTimeEquals(try await derive(password, salt: salt, cost: cost), expected)
    }

    private func derive(_ password: String, salt: [UInt8], cost: PasswordHashing) async throws -> [UInt8] {
        try await NIOThreadPool.singleton.runIfActive {
            let key = try KDF.Scrypt.deriveKey(
                from: Data(password.utf8), salt: salt, outputByteCount: Self.keySize, rounds: 1 << cost.logCost,
                blockSize: cost.blockSize, parallelism: cost.parallelism)
            return key.withUnsafeBytes { Array($0) }
        }
    }
}

extension [UInt8] {
    fileprivate init?(base64URL text: Substring) {
        var base64 = String(text).replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
        guard let data = Data(base64Encoded: base64) else { return nil }
        self.init(data)
    }
}
