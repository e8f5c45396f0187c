#if canImport(Security)
    extension PlatformStorage {
        /// The Keychain, which every system has.
        package static func best(service: String) -> any SecureStorage {
            KeychainStorage(KeychainStorage.Settings(service: service))
        }
    }
#else
    extension PlatformStorage {
        /// The keyring, if the system may have one and it is available, or else files.
        package static func best(service: String) -> any SecureStorage {
            let folder = Disk.stateFolder(of: service)
            var candidates: [Candidate] = []
            #if os(Linux)
                let keyring = SecretServiceStorage(service: service)
                candidates.append(
                    Candidate(kind: .secretService, storage: keyring, obstacle: { await keyring.availability() }))
            #endif
            let files = FileStorage(folder: folder + "/secrets")
            candidates.append(Candidate(kind: .files, storage: files, obstacle: { nil }))
            return PlatformStorage(candidates: candidates, folder: folder)
        }
    }
#endif
