/// Every text that the module shows to users. The English text is also the key in the string catalogue.
///
/// `%1$@` and `%2$@` are placeholders. If you add a text, add it to `Resources/Localizable.xcstrings` as well; a test
/// compares the two.
enum Wording: String, CaseIterable, Sendable {
    // Errors of calls.
    case offline = "You are offline. Try again when you are connected."
    case cannotConnect = "The server cannot be reached. Check your connection and try again."
    case connectionLost = "The connection was lost. Try again."
    case timedOut = "The server took too long to respond. Try again."
    case cancelled = "The request was canceled."
    case notSecure = "A secure connection could not be established. Nothing was sent."
    case notUnderstood = "The app could not read the server’s response. Try again later, or update the app."
    case appFault = "Something went wrong in the app. Try again."
    case notFound = "This no longer exists."
    case tooLarge = "This is too large for the server."
    case tooMany = "There were too many requests. Wait a moment and try again."
    case serverTrouble = "The server is having problems. Try again later."
    case refused = "The server rejected the request."
    case notAllowed = "You do not have permission to do this."
    case signInRequired = "Sign in to continue."
    case sessionChanged = "The sign-in status has changed in the meantime. Try again."
    case renewalFailed = "Your sign-in could not be renewed. Try again in a moment."
    case notSaved = "The file could not be saved."
    case damaged = "The downloaded file was damaged and was not saved. Try again."
    case nothingThere = "There is nothing to download on the server."

    // Why a session ended.
    case sessionRefused = "Your session is no longer valid. Sign in again to continue."
    case sessionRanOut = "Your session has expired. Sign in again to continue."
    case sessionInterrupted = "Your session could not be resumed after an interruption. Sign in again to continue."

    // Why the stored session cannot be read.
    case storeLocked = "Unlock this device to continue."
    case storeUnreachable = "Your saved sign-in cannot be read at the moment. Try again."
    case storeDamaged = "Your saved sign-in is damaged. Sign in again to continue."
    case storeForeign = "Something else is stored where this app keeps your sign-in. Sign in again to continue."
    case storeTooNew = "Your sign-in was saved by a newer version of this app. Update the app to continue."
    case storeUnsafe = "Other users could read your saved sign-in, so it was not used. Sign in again to continue."

    // A guest's login.
    case name = "Name"
    case nameHint = "The name that other people see"
    case nameMissing = "Enter a name."
    case nameTooLong = "The name can have at most %1$@ characters."
    case picture = "Picture"
    case choosePicture = "Choose Picture"
    case changePicture = "Change Picture"
    case removePicture = "Remove Picture"
    case pictureChosen = "Selected picture"
    case unusablePicture = "This picture cannot be used. Choose another one."
    case continueAsGuest = "Continue as Guest"
    case cancel = "Cancel"

    // An upload.
    case uploading = "Upload"
    case preparing = "Preparing…"
    case sending = "Sending…"
    case sendingPercent = "Sending: %1$@%%"
    case sendingAgainPercent = "Sending again: %1$@%%"
    case almostDone = "Almost done…"

    // The screens of `SignedInGate`.
    case loading = "Loading…"
    case signInAgainTitle = "Sign In Again"
    case signOut = "Sign Out"
    case unavailableTitle = "Sign-In Unavailable"
    case tryAgain = "Try Again"
}
