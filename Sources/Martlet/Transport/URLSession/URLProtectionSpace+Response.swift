#if !os(Linux) || URLSession || !AsyncHTTPClient
    internal import Foundation

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    extension URLProtectionSpace {
        /// Whether the challenge is a 401 of the server, which the caller gets as a response.
        var isOfServerResponse: Bool {
            let methods = [
                NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
                NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate, NSURLAuthenticationMethodHTMLForm,
                NSURLAuthenticationMethodDefault,
            ]
            return methods.contains(authenticationMethod) && !isProxy()
        }
    }
#endif
