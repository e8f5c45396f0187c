extension String {
    /// A number that is the same for the same text in every process (FNV-1a, 64 bits), and tells nothing of it.
    var fingerprint: UInt64 {
        utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// Half of it: enough to tell one secret from the next, and far too little to find a secret by.
    var shortFingerprint: UInt32 { UInt32(truncatingIfNeeded: fingerprint >> 32) }
}
