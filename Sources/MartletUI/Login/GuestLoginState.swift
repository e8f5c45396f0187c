public import Martlet
public import MartletImages

/// A guest's login as it is now: what was entered, what goes on, and what came of it.
public struct GuestLoginState: Sendable, Hashable {
    /// The name as it was typed.
    public internal(set) var userName = ""
    /// The picture that was chosen.
    public internal(set) var selectedImage: ImageSource?
    /// Whether somebody is signed in.
    public private(set) var isAuthenticated = false
    /// The guest who was registered here.
    public private(set) var guest: Guest?
    /// How far a registration has got; `nil` where none is under way.
    public private(set) var progress: UploadProgress?
    /// What went wrong, in the person's language.
    public private(set) var errorText: String?
    /// Goes up with each failure, so that the second of two that read the same is told as well.
    private(set) var failures = 0
    /// Goes up with each registration, so that what comes late from an earlier one is known.
    private var attempt = 0

    /// A login that nothing was entered in.
    public init() {}

    /// Whether a registration is under way.
    public var isRegistering: Bool { progress != nil }

    /// A registration to be made.
    struct Order: Sendable {
        let number: Int
        let name: String
        let image: ImageSource?
    }

    /// The name was typed, or only handed over once more, as text fields do when they are left.
    mutating func type(_ name: String) {
        guard name != userName else { return }
        userName = name
        errorText = nil
    }

    /// A picture was chosen, or taken away again.
    mutating func choose(_ image: ImageSource?) {
        selectedImage = image
        errorText = nil
    }

    /// The chosen picture could not be had from where it is.
    mutating func imageFailed() {
        selectedImage = nil
        fail(Wording.unusablePicture.text())
    }

    /// The button was pressed.
    /// - Returns: What is to be done; `nil` where a registration is under way, or the name will not do.
    mutating func begin(longestName: Int) -> Order? {
        guard !isRegistering else { return nil }
        let name = userName.trimmingBlanks
        guard !name.isEmpty else {
            fail(Wording.nameMissing.text())
            return nil
        }
        guard name.count <= longestName else {
            fail(Wording.nameTooLong.text(String(longestName)))
            return nil
        }
        attempt += 1
        progress = UploadProgress()
        errorText = nil
        return Order(number: attempt, name: name, image: selectedImage)
    }

    /// A registration has got further.
    mutating func advance(_ event: TransferEvent, in number: Int) {
        guard number == attempt else { return }
        progress?.apply(event)
    }

    /// A registration is over.
    mutating func end(_ outcome: Result<Guest, NetworkError>, of order: Order) {
        guard order.number == attempt, isRegistering else { return }
        progress = nil
        switch outcome {
        case .success(let guest):
            self.guest = guest
            isAuthenticated = true
            selectedImage = nil
        case .failure(let error) where error.isCancelled: break
        case .failure(.invalidRequest) where order.image != nil: fail(Wording.unusablePicture.text())
        case .failure(let error): fail(error.userMessage)
        }
    }

    /// The person does not want it any more.
    mutating func cancel() {
        guard isRegistering else { return }
        attempt += 1
        progress = nil
    }

    /// The session has come to a state.
    mutating func follow(_ state: SessionState) {
        isAuthenticated = state.isSignedIn
        guard case .signedOut = state, guest != nil else { return }
        guest = nil
        // The next person is somebody else.
        userName = ""
    }

    private mutating func fail(_ text: String) {
        errorText = text
        failures += 1
    }
}

extension String {
    /// Without blanks and line ends around it.
    var trimmingBlanks: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}
