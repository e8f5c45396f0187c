#if !canImport(CryptoKit) && !Encryption
    /// On Linux, this module needs the trait `Encryption`, which adds swift-crypto:
    /// `.package(url: "…/martlet", …, traits: [.defaults, "Encryption"])`
    @available(
        *, unavailable,
        message: "On Linux, MartletOAuth needs Martlet's trait Encryption: traits: [.defaults, \"Encryption\"]"
    )
    public enum OAuthServer {}
#endif
