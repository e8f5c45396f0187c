// Code that a compiler for Apple's systems rejects, but Foundation and Glibc on Linux accept.

internal import Darwin
internal import Dispatch
internal import Foundation
internal import Security

func wrongLabel(_ session: URLSession, _ request: URLRequest) {
    _ = session.uploadTask(withStream: request)  // mistake: incorrect argument label in call
}

func wrongSystem() {
    ProcessInfo.processInfo.performExpiringActivity(withReason: "") { _ in }  // mistake on macOS: has no member
    _ = inotify_init1(0)  // mistake: cannot find 'inotify_init1' in scope
}

func wrongField(_ status: stat) -> Int {
    status.st_mtim.tv_sec  // mistake: has no member 'st_mtim'
}

func wrongType(_ status: stat) -> UInt32 {
    status.st_mode  // mistake: cannot convert return expression of type 'mode_t'
}

final class WrongDelegate: NSObject, StreamDelegate {
    func stream(_ stream: Stream, handles event: Stream.Event) {}  // mistake: has different argument labels
}

final class WrongSuperclass: OutputStream, Sendable {}  // mistake: cannot inherit from another class

func withoutBridging(_ service: String) {
    let query: [String: Any] = [kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service]
    _ = SecItemDelete(query)  // mistake: cannot convert value of type '[String : Any]' to expected argument type 'CFDictionary'
    _ = SecItemDelete(query as CFDictionary)
    _ = [kSecAttrAccount: service] as [String: String]  // mistake: cannot convert value of type 'CFString'
}

func sendsStream(_ output: OutputStream, to queue: DispatchQueue) {
    queue.async { output.close() }  // mistake: capture of 'output' with non-Sendable type 'OutputStream'
}

func waits(for semaphore: DispatchSemaphore) async {
    semaphore.wait()  // mistake: unavailable from asynchronous contexts
}
