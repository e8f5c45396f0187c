// An app that uses MartletUI alone.
import MartletUI

if #available(macOS 14, *) {
    let login = GuestLoginState()
    print("Hello, \(login.userName.isEmpty ? "guest" : login.userName)!")
}
