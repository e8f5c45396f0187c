#!/usr/bin/env python3
"""Checks that the compiler names the trait that a line needs.

Each line below uses a declaration that only a trait adds. An app with the default traits that contains them must not
compile, and each of them must have an error that names its trait. Builds in .build.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from check_readme import OPTIONS, TOOLS_VERSION
from swift_source import ROOT

PRODUCTS = ["Martlet", "MartletAdoption", "MartletCombine", "MartletOAuth", "MartletUI"]
FOUNDATION = ["import Foundation", "#if canImport(FoundationNetworking)", "import FoundationNetworking", "#endif"]
LINES = {
    "Encryption": """
        let store: AnyTokenStore = .encryptedFile(path: "/session", key: .file(path: "/key"))
        let store: AnyTokenStore = .encryptedFile(service: "com.example.app", key: .passphrase("secret"))
        let secrets: AnySecureStorage = .encryptedFiles(in: "/secrets", key: .environment("KEY"))
        let secrets: AnySecureStorage = .encryptedFiles(service: "com.example.app", key: .systemdCredential("key"))
        options.check = .sha256("a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447")
        options.check = .fromServer(required: true)
        let pin = try TLSPin.publicKey(sha256: "a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447")
        let id = OAuthServer(issuer: "https://id.example.com", client: OAuthClient(id: "app"), redirect: .loopback())
    """,
    "URLSession": """
        let transport = URLSessionTransport()
        let transport = URLSessionTransport(configuration: .ephemeral)
        let transport = URLSessionTransport(configuration: URLSessionConfiguration.default)
        let transport = URLSessionTransport.shared
        let store: AnyTokenStore = .userDefaults
        let store: AnyTokenStore = .userDefaults(key: "session")
        let former: FormerTokens = .userDefaults(accessToken: "access", refreshToken: "refresh")
        let signer = RequestSigner(tokens: tokens)
        let stamp = try await RequestSigner(tokens: tokens).sign(&request, of: tokens)
        let isRepeated = try await RequestSigner(tokens: tokens).recover(from: response, to: &request, of: tokens)
        try await tokens.sign(&request)
        try await tokens.sign(&request, .required, for: SessionID(rawValue: "1"))
        let isRepeated = try await tokens.recover(from: response, to: &request)
        let isRepeated = try await tokens.recover(from: response as URLResponse, body: Data(), to: &request)
        let next = tokens.redirected(request, by: response, to: request)
        let progress = monitor.uploadProgress()
        let progress = monitor.downloadProgress()
    """,
    "OpenCombine": """
        let publisher = client.publisher(for: endpoint)
        let publisher = client.publisher(for: endpoint, as: [String].self)
        let publisher = client.responsePublisher(for: endpoint)
        let publisher = client.dataPublisher(for: endpoint)
        let publisher = client.uploadPublisher(for: endpoint)
        let publisher = client.uploadResponsePublisher(for: endpoint)
        let publisher = client.downloadPublisher(for: endpoint, to: "/file")
        let publisher = tokens.statePublisher
        let publisher = tokens.eventPublisher
        let publisher = client.publisher(for: endpoint, on: 0)
        let publisher = client.publisher(for: endpoint, as: [String].self, on: 0)
        let publisher = client.dataPublisher(for: endpoint, on: 0)
        let publisher = client.uploadPublisher(for: endpoint, on: 0)
        let publisher = client.uploadResponsePublisher(for: endpoint, on: 0)
        let publisher = client.downloadPublisher(for: endpoint, to: "/file", on: 0)
        let publisher = tokens.statePublisher(on: 0)
        let publisher = tokens.eventPublisher(on: 0)
        tokens.statePublisher.sink { print($0) }
        client.publisher(for: endpoint).receive(on: 0)
        let model = SessionViewModel(tokens)
        let model = GuestLoginViewModel(client)
    """,
}


def program():
    """The program, and the trait that each of its lines needs, by its number."""
    lines, needed = [*FOUNDATION, *(f"import {product}" for product in PRODUCTS)], {}
    for trait, code in LINES.items():
        for line in code.split("\n"):
            if line := line.strip():
                lines.append(
                    f"@MainActor func use{len(lines)}(_ client: NetworkClient, _ tokens: TokenManager, _ endpoint: Call<[String]>, "
                    "_ monitor: TransferMonitor, _ options: inout DownloadOptions, _ request: inout URLRequest, "
                    f"_ response: HTTPURLResponse) async throws {{ {line} }}")
                needed[len(lines)] = (trait, line)
    return "\n".join(lines) + "\n", needed


def main():
    code, needed = program()
    with tempfile.TemporaryDirectory(prefix="martlet-hints-") as name:
        folder = pathlib.Path(name).resolve()
        (folder / "Sources").mkdir()
        products = ", ".join(f'.product(name: "{product}", package: "martlet")' for product in PRODUCTS)
        (folder / "Package.swift").write_text(
            f'{TOOLS_VERSION}let package = Package(name: "hints", platforms: [.macOS(.v14)], '
            f'dependencies: [.package(name: "martlet", path: "{ROOT}")], '
            f'targets: [.executableTarget(name: "hints", dependencies: [{products}], path: "Sources")])\n')
        (folder / "Sources" / "hints.swift").write_text(code)
        built = subprocess.run(
            ["swift", "build", *OPTIONS], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    named = {int(line): trait for line, trait in re.findall(
        r"hints\.swift:(\d+):\d+: error: .* (?:needs the trait |'NeedsTrait)(\w+)", built.stdout)}
    if sys.platform == "darwin":
        # Apple's platforms have the rest without a trait.
        needed = {line: use for line, use in needed.items() if ".encryptedFile" in use[1]}
    missing = [f"{trait}: {line}" for number, (trait, line) in needed.items() if named.get(number) != trait]
    if missing:
        errors = [line for line in built.stdout.split("\n") if re.search(r"^[^|]*\berror:", line)]
        sys.exit("error: the compiler does not name the trait of\n" + "\n".join(missing + errors))
    print(f"The compiler names the missing trait of {len(needed)} lines.")


if __name__ == "__main__":
    main()
