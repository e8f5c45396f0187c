// The code of an app that adds every product by Martlet's URL. scripts/consume-xcode.sh builds it with Xcode.
import Combine
import Foundation
import Martlet
import MartletAdoption
import MartletBackground
import MartletCombine
import MartletGuests
import MartletImages
import MartletJSON
import MartletOAuth
import MartletTesting
import MartletUI

struct User: Decodable, Sendable { var name: String }

func name() async throws -> String {
    let transport = StubTransport()
    let call = Call<User>.get("/me", authentication: .required)
    transport.when(call).respond(.json(["name": "Ada"]))
    var config = NetworkConfig()
    config.decoder = MartletJSONDecoder()
    let tokens = TokenManager(
        baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
        transport: transport)
    try await tokens.signIn(with: Tokens(accessToken: "A", lifetime: .seconds(3600)))
    return try await NetworkClient(tokens: tokens, config: config).send(call).name
}

func adopt(into store: AnyTokenStore) async throws -> Bool {
    try await store.adopt(.userDefaults(accessToken: "access", refreshToken: "refresh"))
}

func publisher(_ client: NetworkClient) -> AnyPublisher<User, NetworkError> {
    client.publisher(for: Call<User>.get("/me"))
}

func processor() -> ImageProcessor { ImageProcessor() }

func backgroundOptions() -> BackgroundTransferOptions { BackgroundTransferOptions() }

func guests(_ client: NetworkClient) -> GuestAuthService { GuestAuthService(client) }

func server() -> OAuthServer {
    OAuthServer(
        issuer: "https://id.example.com", client: OAuthClient(id: "app"),
        redirect: .appScheme("com.example.app:/callback"))
}

func login() -> GuestLoginState { GuestLoginState() }
