/// The cost parameters of scrypt (RFC 7914) for hashing passwords.
public struct PasswordHashing: Sendable, Hashable {
    /// The base-2 logarithm of the CPU and memory cost N.
    public var logCost: Int
    /// The block size r.
    public var blockSize: Int
    /// The parallelism p.
    public var parallelism: Int

    /// Creates parameters.
    public init(logCost: Int, blockSize: Int, parallelism: Int) {
        self.logCost = logCost
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// N = 2^15, r = 8, p = 3, as recommended by OWASP's password storage guidance.
    public static let standard = PasswordHashing(logCost: 15, blockSize: 8, parallelism: 3)

    /// Insecure parameters for tests that register many users.
    public static let cheapForTests = PasswordHashing(logCost: 4, blockSize: 1, parallelism: 1)
}
