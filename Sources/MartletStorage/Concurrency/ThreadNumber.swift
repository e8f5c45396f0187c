internal import MartletLibc

/// A thread-local number that starts at 0. It stays 0 if the process has used up the keys of its threads.
package struct ThreadNumber: Sendable {
    private let key: pthread_key_t?

    package init() {
        var key = pthread_key_t()
        self.key = pthread_key_create(&key, nil) == 0 ? key : nil
    }

    package var value: Int {
        get { key.map { Int(bitPattern: pthread_getspecific($0)) } ?? 0 }
        nonmutating set { if let key { pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) } }
    }
}
