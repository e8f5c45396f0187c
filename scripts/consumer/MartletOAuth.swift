// An app that uses MartletOAuth alone. On Linux, without the trait Encryption, the module only says that it needs it.
import MartletOAuth

#if canImport(CryptoKit)
    let options = SignInOptions()
    print("Hello, \(options.loginHint ?? "browser")!")
#else
    print("Hello, browser!")
#endif
