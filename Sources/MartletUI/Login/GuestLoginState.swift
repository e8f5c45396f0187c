internal import Martlet
public import MartletGuests
public import MartletImages

/// The state of a guest's login: the input, the progress of the registration, and its result.
public struct GuestLoginState: Sendable, Hashable {
    /// The name in the text field.
    public internal(set) var userName = ""
    /// The chosen picture. It stays after a registration until the app or a sign-out clears it.
    public internal(set) var selectedImage: ImageSource?
    /// Whether a user is signed in.
    public private(set) var isAuthenticated = false
    /// The guest that this login registered.
    public private(set) var guest: Guest?
    /// The progress of the running registration; `nil` if none is running.
    public private(set) var progress: UploadProgress?
    /// The message of the last error, in the user's language.
    public private(set) var errorText: String?
    /// Counts failures, so that VoiceOver also announces a failure whose text equals the previous one.
    private(set) var failures = 0
    /// The session of the last state that had one; `nil` after a sign-out.
    private var session: SignedInSession?
    /// Whether a user has been signed in since the last sign-out, perhaps by another form or in an earlier run of the
    /// app.
    private var hasBeenSignedIn = false
    /// Whether a sign-out during the registration is that of the new session, which could not be saved. Then the form
    /// stays as it is.
    private var isWithdrawable = false
    /// Counts registrations, so that late events of an earlier one can be ignored.
    private var attempt = 0

    /// Creates the state of an empty login form.
    public init() {}

    /// Whether a registration is running.
    public var isRegistering: Bool { progress != nil }

    /// The input of one registration.
    struct Submission: Sendable {
        let number: Int
        let name: String
        let image: ImageSource?
    }

    /// Takes the text field's value. A text field sets the same value again when it loses focus. The error stays then.
    mutating func type(_ name: String) {
        guard name != userName else { return }
        userName = name
        errorText = nil
    }

    mutating func choose(_ image: ImageSource?) {
        selectedImage = image
        errorText = nil
    }

    mutating func discardUnreadableImage() {
        selectedImage = nil
        fail(Wording.unusablePicture.text)
    }

    /// Begins a registration.
    /// - Returns: Its input; `nil` if a registration is already running or the name is not valid.
    mutating func begin(maximumNameLength: Int) -> Submission? {
        guard !isRegistering else { return nil }
        let name = userName.trimmingBlanks
        guard !name.isEmpty else {
            fail(Wording.nameMissing.text)
            return nil
        }
        guard name.count <= maximumNameLength else {
            fail(Wording.nameTooLong(maximumNameLength).text)
            return nil
        }
        attempt += 1
        progress = UploadProgress()
        errorText = nil
        isWithdrawable = !isAuthenticated
        return Submission(number: attempt, name: name, image: selectedImage)
    }

    mutating func advance(_ event: TransferEvent, in number: Int) {
        guard number == attempt else { return }
        progress?.apply(event)
    }

    mutating func end(_ outcome: Result<Guest, NetworkError>, of submission: Submission) {
        guard submission.number == attempt, isRegistering else { return }
        progress = nil
        isWithdrawable = false
        switch outcome {
        case .success(let guest):
            self.guest = guest
            isAuthenticated = true
            hasBeenSignedIn = true
        case .failure(let error) where error.isCancelled: break
        case .failure(.invalidRequest) where submission.image != nil: fail(Wording.unusablePicture.text)
        case .failure(let error): fail(error.userText)
        }
    }

    mutating func cancel() {
        guard isRegistering else { return }
        attempt += 1
        progress = nil
        isWithdrawable = false
    }

    /// Applies a state of the session. After a sign-out, or when another user has signed in, the guest, the name, the
    /// picture and the error are cleared.
    mutating func follow(_ state: SessionState) {
        isAuthenticated = state.isSignedIn
        switch state {
        case .signedIn(let next): follow(next)
        case .expired: hasBeenSignedIn = true
        case .signedOut:
            guest = nil
            session = nil
            guard hasBeenSignedIn else { return }
            hasBeenSignedIn = false
            if !isWithdrawable { clear() }
        case .loading, .unavailable, .unreadable: break
        }
    }

    private mutating func follow(_ next: SignedInSession) {
        hasBeenSignedIn = true
        defer { session = next }
        // The session may also be the one that the running registration starts.
        guard let session, session.id != next.id, !isRegistering else { return }
        guest = nil
        // The upgrade of a guest starts a session too.
        if session.account.userID == nil || session.account.userID != next.account.userID { clear() }
    }

    /// The next user must not see the previous user's name and picture.
    private mutating func clear() {
        userName = ""
        selectedImage = nil
        errorText = nil
    }

    private mutating func fail(_ text: String) {
        errorText = text
        failures += 1
    }
}

extension String {
    /// Trims without Foundation, which is not imported on Linux.
    var trimmingBlanks: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}
