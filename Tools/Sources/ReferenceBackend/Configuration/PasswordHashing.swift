/// What it costs to hash a password with scrypt (RFC 7914).
public struct PasswordHashing: Sendable, Hashable {
    /// The base-2 logarithm of the CPU and memory cost N.
    public var logCost: Int
    /// The block size r.
    public var blockSize: Int
    /// The parallelism p.
    public var parallelism: Int

    /// A choice of scrypt's parameters.
    public init(logCost: Int, blockSize: Int, parallelism: Int) {
        self.logCost = logCost
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// N = 2^15, r = 8, p = 3: one of the choices that OWASP's password storage guidance lists.
    public static let standard = PasswordHashing(logCost: 15, blockSize: 8, parallelism: 3)

    /// Parameters that protect nothing, for tests that register many users.
    public static let cheapForTests = PasswordHashing(logCost: 4, blockSize: 1, parallelism: 1)
}
