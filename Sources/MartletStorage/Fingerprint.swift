extension String {
    /// A hash that is the same in every process (FNV-1a, 64 bits).
    package var fingerprint: UInt64 {
        utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// Half of the hash: enough to distinguish two secrets, and too little to reconstruct one.
    package var shortFingerprint: UInt32 { UInt32(truncatingIfNeeded: fingerprint >> 32) }
}
