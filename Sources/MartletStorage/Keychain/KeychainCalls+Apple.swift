#if canImport(Security)
    internal import Foundation
    internal import Security

    // On tvOS the module may exist, but without `LAContext`.
    #if canImport(LocalAuthentication) && !os(tvOS)
        internal import LocalAuthentication
    #endif

    extension KeychainCalls {
        /// The system's functions. They remember that the user was authenticated.
        package static func system() -> KeychainCalls {
            let queries = KeychainQueries()
            return KeychainCalls(
                add: { attributes in
                    guard let query = queries.dictionary(attributes) else { return .parameter }
                    return KeychainStatus(rawValue: SecItemAdd(query, nil))
                },
                copyMatching: { query in
                    guard let query = queries.dictionary(query) else { return .failure(.parameter) }
                    var found: CFTypeRef?
                    let status = KeychainStatus(rawValue: SecItemCopyMatching(query, &found))
                    guard status == .success else { return .failure(status) }
                    // One item is a dictionary, several are an array.
                    let items = found as? [[String: Any]] ?? (found as? [String: Any]).map { [$0] } ?? []
                    return .success(items.map(KeychainAttributes.init(found:)))
                },
                update: { query, changes in
                    guard let query = queries.dictionary(query), let changes = queries.values(changes) else {
                        return .parameter
                    }
                    return KeychainStatus(rawValue: SecItemUpdate(query, changes as CFDictionary))
                },
                delete: { query in
                    guard let query = queries.dictionary(query) else { return .parameter }
                    return KeychainStatus(rawValue: SecItemDelete(query))
                },
                authenticate: { requirement, reason in await requirement.evaluate(reason) },
                enrolledBiometry: { KeychainAuthentication.enrolledBiometry })
        }
    }

    #if canImport(LocalAuthentication) && !os(tvOS)
        extension KeychainAuthentication.Requirement {
            /// Prompts the user. The system refuses this while the app is in the background.
            fileprivate func evaluate(_ reason: String) async -> KeychainStatus {
                guard let policy else { return .authenticationFailed }
                let context = LAContext()
                return await withCheckedContinuation { continuation in
                    context.evaluatePolicy(policy, localizedReason: reason) { isConfirmed, error in
                        continuation.resume(returning: isConfirmed ? .success : KeychainStatus(error))
                    }
                }
            }

            /// `nil` if the system has no such policy.
            private var policy: LAPolicy? {
                switch self {
                case .userPresence: return .deviceOwnerAuthentication
                case .currentBiometry:
                    #if os(watchOS)
                        return nil
                    #else
                        return .deviceOwnerAuthenticationWithBiometrics
                    #endif
                }
            }
        }

        extension KeychainStatus {
            /// The status for an `LAError`.
            fileprivate init(_ error: (any Error)?) {
                switch (error as? LAError)?.code {
                case .notInteractive: self = .interactionNotAllowed
                case .userCancel, .systemCancel, .appCancel: self = .userCanceled
                default: self = .authenticationFailed
                }
            }
        }

        extension KeychainAuthentication {
            fileprivate static var enrolledBiometry: String? {
                #if os(watchOS)
                    return nil
                #else
                    let context = LAContext()
                    guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil) else {
                        return nil
                    }
                    return context.evaluatedPolicyDomainState?.base64EncodedString()
                #endif
            }
        }
    #else
        extension KeychainAuthentication.Requirement {
            /// tvOS has no Local Authentication.
            fileprivate func evaluate(_ reason: String) async -> KeychainStatus { .authenticationFailed }
        }

        extension KeychainAuthentication {
            fileprivate static var enrolledBiometry: String? { nil }
        }
    #endif

    /// Converts attributes to the system's dictionaries, and keeps the context in which the user was authenticated.
    ///
    /// `@unchecked Sendable` is correct because only the closures of one storage use it, one after another on its
    /// queue.
    private final class KeychainQueries: @unchecked Sendable {
        #if canImport(LocalAuthentication) && !os(tvOS)
            private var latest: (generation: Int, context: LAContext)?

            /// The context of a generation. Invalidates the previous generation's context.
            private func context(_ wanted: KeychainAuthenticationContext) -> LAContext {
                if let latest, latest.generation == wanted.generation { return latest.context }
                latest?.context.invalidate()
                let context = LAContext()
                #if !os(watchOS)
                    context.localizedReason = wanted.reason
                #endif
                latest = (wanted.generation, context)
                return context
            }
        #endif

        /// A query for a generic password with these attributes; `nil` if the system cannot express one of them.
        func dictionary(_ attributes: KeychainAttributes) -> CFDictionary? {
            guard var values = values(attributes) else { return nil }
            values[kSecClass as String] = kSecClassGenericPassword
            return values as CFDictionary
        }

        func values(_ attributes: KeychainAttributes) -> [String: Any]? {
            var values: [String: Any] = [:]
            for (key, value) in attributes {
                guard let value = self.value(value) else { return nil }
                values[key.name as String] = value
            }
            return values
        }

        private func value(_ value: KeychainValue) -> Any? {
            #if canImport(LocalAuthentication) && !os(tvOS)
                if case .authenticationContext(let wanted) = value { return context(wanted) }
            #endif
            return switch value {
            case .text(let text): text
            case .bytes(let bytes): bytes
            case .flag(let flag): flag
            case .either: kSecAttrSynchronizableAny
            case .limit(let limit): limit == .one ? kSecMatchLimitOne : kSecMatchLimitAll
            case .accessible(let accessibility): accessibility.name
            case .accessControl(let accessibility, let requirement):
                SecAccessControlCreateWithFlags(nil, accessibility.name, requirement.flags, nil)
            case .authenticationContext: nil
            }
        }
    }

    extension KeychainAttributes {
        /// The attributes of an item that the system has found.
        fileprivate init(found: [String: Any]) {
            self = [:]
            self[text: .account] = found[kSecAttrAccount as String] as? String
            self[text: .accessGroup] = found[kSecAttrAccessGroup as String] as? String
            self[text: .comment] = found[kSecAttrComment as String] as? String
            self[bytes: .generic] = found[kSecAttrGeneric as String] as? Data
            self[bytes: .data] = found[kSecValueData as String] as? Data
            if let name = found[kSecAttrAccessible as String] as? String {
                self[.accessible] = KeychainAccessibility.allCases.first { $0.name as String == name }
                    .map(KeychainValue.accessible)
            }
        }
    }

    extension KeychainKey {
        fileprivate var name: CFString {
            switch self {
            case .service: kSecAttrService
            case .account: kSecAttrAccount
            case .accessGroup: kSecAttrAccessGroup
            case .synchronizable: kSecAttrSynchronizable
            case .accessible: kSecAttrAccessible
            case .accessControl: kSecAttrAccessControl
            case .generic: kSecAttrGeneric
            case .label: kSecAttrLabel
            case .comment: kSecAttrComment
            case .data: kSecValueData
            case .useDataProtection: kSecUseDataProtectionKeychain
            case .authenticationContext: kSecUseAuthenticationContext
            case .returnData: kSecReturnData
            case .returnAttributes: kSecReturnAttributes
            case .matchLimit: kSecMatchLimit
            }
        }
    }

    extension KeychainAccessibility {
        fileprivate var name: CFString {
            switch self {
            case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlock
            case .whenUnlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
            case .whenUnlocked: kSecAttrAccessibleWhenUnlocked
            case .whenPasscodeSetThisDeviceOnly: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
            }
        }
    }

    extension KeychainAuthentication.Requirement {
        fileprivate var flags: SecAccessControlCreateFlags {
            switch self {
            case .userPresence: .userPresence
            case .currentBiometry: .biometryCurrentSet
            }
        }
    }
#endif
