// Code that CryptoKit rejects.

internal import CryptoKit
internal import Foundation

func updatesConstant(_ bytes: Data) -> [UInt8] {
    let digest = SHA256()
    digest.update(data: bytes)  // mistake: cannot use mutating member on immutable value
    return Array(digest.finalize())
}

func updatesText(_ text: String) -> [UInt8] {
    var digest = SHA512()
    digest.update(data: text)  // mistake: requires that 'String' conform to 'DataProtocol'
    digest.update(data: Data(text.utf8))
    return Array(digest.finalize())
}

func readsBytes(_ digest: SHA256Digest) -> [UInt8] {
    digest.bytes  // mistake: has no member 'bytes'
}
