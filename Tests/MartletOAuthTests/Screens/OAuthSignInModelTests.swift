#if canImport(CryptoKit) || Encryption
    import Foundation
    import Martlet
    import MartletTesting
    import Testing

    @testable import MartletOAuth

    @Suite("model of a sign-in", .timeLimit(.minutes(10))) @MainActor struct OAuthSignInModelTests {
        @Test("a second tap starts no second sign-in") func doubleTap() async {
            let world = World()
            let gate = Gate()
            world.change { script in
                script.callback = { [unowned world] url in
                    await gate.pass()
                    return try await world.browseAgain(url)
                }
            }
            let tokens = world.manager()
            let model = OAuthSignInModel(world.server, to: tokens, scope: ["openid"])
            model.signIn(with: OAuthBrowser(world.browse))
            model.signIn(with: OAuthBrowser(world.browse))
            #expect(model.isSigningIn)
            await gate.waitForArrivals()
            gate.open()
            await model.finish()
            #expect(!model.isSigningIn && model.error == nil && model.user?.subject == "ada")
            #expect(world.requests(to: "/token").count == 1 && gate.arrivals == 1)
            #expect(tokens.currentTokens != nil)
        }

        @Test("an error is shown until the next sign-in, and a cancellation is not an error") func errors() async {
            let world = World()
            world.change { script in script.editCallback = { $0[0] = ("error", "access_denied") } }
            let model = OAuthSignInModel(world.server, to: world.manager(), scope: ["openid"])
            model.signIn(with: OAuthBrowser(world.browse))
            await model.finish()
            #expect(model.error?.kind == .denied && model.user == nil)
            let gate = Gate()
            world.change { script in
                script.callback = { url in
                    try await gate.passUnlessCancelled()
                    return url
                }
            }
            model.signIn(with: OAuthBrowser(world.browse))
            #expect(model.error == nil)
            await gate.waitForArrivals()
            model.cancel()
            await model.finish()
            #expect(model.error == nil && !model.isSigningIn)
        }
    }
#endif
