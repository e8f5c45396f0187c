extension PlatformStorage {
    #if canImport(Security)
        /// The Keychain, which is always there.
        static func candidates(service: String, folder: String) -> [Candidate] {
            [Candidate(kind: .keychain, storage: KeychainStorage(service: service), obstacle: { nil })]
        }
    #else
        /// The keyring, where the system can have one, and files.
        static func candidates(service: String, folder: String) -> [Candidate] {
            var candidates: [Candidate] = []
            #if os(Linux)
                let keyring = SecretServiceStorage(service: service)
                candidates.append(
                    Candidate(kind: .secretService, storage: keyring, obstacle: { await keyring.availability() }))
            #endif
            let files = FileStorage(folder: folder + "/secrets")
            candidates.append(Candidate(kind: .files, storage: files, obstacle: { nil }))
            return candidates
        }
    #endif
}
