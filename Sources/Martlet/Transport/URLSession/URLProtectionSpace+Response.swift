#if !os(Linux) || URLSession || !AsyncHTTPClient
    #if canImport(FoundationNetworking)
        internal import Foundation
        package import FoundationNetworking
    #else
        package import Foundation
    #endif

    extension URLProtectionSpace {
        /// Whether the challenge is a 401 from the server, which the caller gets as a response.
        package var isOfServerResponse: Bool {
            let methods = [
                NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
                NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate, NSURLAuthenticationMethodHTMLForm,
                NSURLAuthenticationMethodDefault,
            ]
            return methods.contains(authenticationMethod) && !isProxy()
        }
    }
#endif
