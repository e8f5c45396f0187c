/// Certificates and public keys that OpenSSL has made, with the digests that it computes.
enum CertificateFixtures {
    /// A certificate with a key on P-256.
    static let ec = """
        -----BEGIN CERTIFICATE-----
        MIIBgTCCASegAwIBAgIULFpXJ7m76QYZgfFWxF6JhevGCU0wCgYIKoZIzj0EAwIw
        FTETMBEGA1UEAwwKZWMuZXhhbXBsZTAgFw0yNjExMjMxMTMzMzRaGA8yMTI2MTAz
        MDExMzMzNFowFTETMBEGA1UEAwwKZWMuZXhhbXBsZTBZMBMGByqGSM49AgEGCCqG
        SM49AwEHA0IABNuf8zlmxBlXogSp/PJuTLQfhwWkYczT5J6bpcKAfDiNWMqqoYGq
        86xWc4Lr4pQmtmcUoaEsZwfdUVhjkpCg4MOjUzBRMB0GA1UdDgQWBBS5peYheHaZ
        ZLSi85fTO11KtBfyQDAfBgNVHSMEGDAWgBS5peYheHaZZLSi85fTO11KtBfyQDAP
        BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQCwXOhbuSP8aD2cq18B
        QV37oxJWoFz2FEhrwA+V4IxeQQIgIjkAVw6//aJraw/JOLxMSbnrXAd79Nfc0lho
        XVBoteM=
        -----END CERTIFICATE-----
        """

    /// The key of ``ec``.
    static let ecKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE25/zOWbEGVeiBKn88m5MtB+HBaRh
        zNPknpulwoB8OI1YyqqhgarzrFZzguvilCa2ZxShoSxnB91RWGOSkKDgww==
        -----END PUBLIC KEY-----
        """
    static let ecDigest = "O7warAeiseUPVh3S/crEQKP05zsicqwwD07xS0G6NnA="

    /// A certificate with an RSA key and extensions.
    static let rsa = """
        -----BEGIN CERTIFICATE-----
        MIIDJzCCAg+gAwIBAgIUGd+H/MV7i+xb+XOrRIYp++RenH8wDQYJKoZIhvcNAQEL
        BQAwFjEUMBIGA1UEAwwLcnNhLmV4YW1wbGUwIBcNMjYxMTIzMTEzMzM0WhgPMjEy
        NjEwMzAxMTMzMzRaMBYxFDASBgNVBAMMC3JzYS5leGFtcGxlMIIBIjANBgkqhkiG
        9w0BAQEFAAOCAQ8AMIIBCgKCAQEA00xxchhXOa2rzPa7FqQCmY91TohARQmjggC3
        jnMwDDdbE3gZntXWdO6jJDZLWbzecODn9kTw/TrLeKxLKoFnX9OjM6fAqJzMRrbL
        Krr4SHYyrHHxsltFuTldMuCX5zW+/SiFwXOCcaD+aOMTdVVAFdF+A8vaVoDXsUPp
        1C2J6/818VqYCSFOpfDHjJXXeKOvlbqQ6FvqqYEdEWwr+OA9/L8Ciub6biei4AXg
        WjXrnGYYqv9LkZrqpO009AwS6/KCHRxC3QB4rrApTCbRZhqUb4B1zmsinPbSg4TG
        NeHdUxAy6EzZmojhczrRJXsjeA1GQ82AgIzbUxGVyExwUV6nKQIDAQABo2swaTAd
        BgNVHQ4EFgQU1bST/K3Wy2MNi6zqVw9DbZh/uMowHwYDVR0jBBgwFoAU1bST/K3W
        y2MNi6zqVw9DbZh/uMowDwYDVR0TAQH/BAUwAwEB/zAWBgNVHREEDzANggtyc2Eu
        ZXhhbXBsZTANBgkqhkiG9w0BAQsFAAOCAQEAF7i+wOLsZF023DXo4yS+vnoN0ULs
        6zMHxQI/xn/cUyEko44BuxtJCInYeOZ+qANq7PFFSMVcueQCkk7AZ862v+GVTmNU
        4cSTIAo2+KEq1bYNiu/5s5slYORQ6YQSBeS8s3u8v7RQSWaGR3JQVF1GnOAPwNEo
        1n1wzRcqtlUYO+I9gl2AC/gPPwZ9IbZQp/SOpmLlBpLmIaBXYo2cdsJqtbM1coN7
        avlO04SLDKqqbrdCXFq7UlFQWGlVW/O4tXmuHCX7f67E5FoSdCDB5fMTURGeyxKx
        2219NEiLkgOg6w8meU44pPqP0FCWIfqhKAvq3QozidmRTuxuBCrp8y5mFw==
        -----END CERTIFICATE-----
        """

    /// The key of ``rsa``.
    static let rsaKey = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA00xxchhXOa2rzPa7FqQC
        mY91TohARQmjggC3jnMwDDdbE3gZntXWdO6jJDZLWbzecODn9kTw/TrLeKxLKoFn
        X9OjM6fAqJzMRrbLKrr4SHYyrHHxsltFuTldMuCX5zW+/SiFwXOCcaD+aOMTdVVA
        FdF+A8vaVoDXsUPp1C2J6/818VqYCSFOpfDHjJXXeKOvlbqQ6FvqqYEdEWwr+OA9
        /L8Ciub6biei4AXgWjXrnGYYqv9LkZrqpO009AwS6/KCHRxC3QB4rrApTCbRZhqU
        b4B1zmsinPbSg4TGNeHdUxAy6EzZmojhczrRJXsjeA1GQ82AgIzbUxGVyExwUV6n
        KQIDAQAB
        -----END PUBLIC KEY-----
        """
    static let rsaDigest = "PUM+kR7IVPx0EElS/q18f5sEJ6iVperyYGEAQ7oKN6Y="

    /// A certificate of version 1 with the key of ``ec``, which names no version.
    static let version1 = """
        -----BEGIN CERTIFICATE-----
        MIIBFjCBvQIUJSzPfw0Eqad8mzUoVKnyWrBnAWEwCgYIKoZIzj0EAwIwDTELMAkG
        A1UEAwwCdjEwIBcNMjYxMTIzMTEzMzM0WhgPMjEyNjEwMzAxMTMzMzRaMA0xCzAJ
        BgNVBAMMAnYxMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE25/zOWbEGVeiBKn8
        8m5MtB+HBaRhzNPknpulwoB8OI1YyqqhgarzrFZzguvilCa2ZxShoSxnB91RWGOS
        kKDgwzAKBggqhkjOPQQDAgNIADBFAiBraNp7taYF2/d/bPaR2ohsL2VMkN0vbZ7m
        gqfxL/xEegIhAPaSV4IQynT3UtqYEC9bInnTWn3xYLWl0rkaLLM+TxZ5
        -----END CERTIFICATE-----
        """
}
