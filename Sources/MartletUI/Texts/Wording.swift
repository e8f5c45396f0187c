/// Every text that a person gets to read, in English, which is also its key in the string catalogue.
///
/// `%1$@` and `%2$@` stand for what is put in. Whoever adds a text adds it to `Resources/Localizable.xcstrings` too; a test
/// compares the two.
enum Wording: String, CaseIterable, Sendable {
    // What goes wrong with a call.
    case offline = "You are offline. Try again when you are connected."
    case cannotConnect = "The server cannot be reached. Check your connection and try again."
    case connectionLost = "The connection was lost. Try again."
    case timedOut = "The server took too long to answer. Try again."
    case cancelled = "This was cancelled."
    case notSecure = "No secure connection could be made, so nothing was sent."
    case notUnderstood = "The server’s answer could not be understood. Try again later, or update the app."
    case appFault = "Something went wrong in the app. Try again."
    case notFound = "This does not exist any more."
    case tooLarge = "This is too large for the server."
    case tooMany = "That was too much at once. Wait a moment and try again."
    case serverTrouble = "The server is having trouble. Try again later."
    case refused = "The server refused this."
    case notAllowed = "You are not allowed to do this."
    case signInRequired = "Sign in to go on."
    case sessionChanged = "Somebody signed in or out meanwhile. Try again."
    case renewalFailed = "Your sign-in could not be renewed just now. Try again in a moment."
    case notSaved = "The file could not be saved."
    case damaged = "The file arrived damaged and was not kept. Try again."
    case nothingThere = "The server has nothing to download."

    // Why a session ended.
    case sessionRefused = "Your session is not valid any more. Sign in again to go on."
    case sessionRanOut = "Your session has run out. Sign in again to go on."
    case sessionInterrupted = "Your session could not be continued after an interruption. Sign in again to go on."

    // Why the stored session cannot be read.
    case storeLocked = "Unlock this device to go on."
    case storeUnreachable = "Your sign-in cannot be read just now. Try again."
    case storeDamaged = "Your saved sign-in is damaged. Sign in again to go on."
    case storeTooNew = "Your sign-in was saved by a newer version of this app. Update the app to go on."
    case storeUnsafe = "Others could read your saved sign-in, so it was not used. Sign in again to go on."

    // A guest's login.
    case name = "Name"
    case nameHint = "The name that others see"
    case nameMissing = "Enter a name."
    case nameTooLong = "The name can have at most %1$@ characters."
    case picture = "Picture"
    case choosePicture = "Choose a Picture"
    case changePicture = "Change the Picture"
    case removePicture = "Remove the Picture"
    case pictureChosen = "A picture is chosen."
    case unusablePicture = "This picture cannot be used. Choose another one."
    case continueAsGuest = "Continue as a Guest"
    case cancel = "Cancel"

    // An upload.
    case uploading = "Upload"
    case preparing = "Preparing…"
    case sending = "Sending…"
    case sendingPercent = "Sending: %1$@ %%"
    case sendingAgainPercent = "Sending again: %1$@ %%"
    case almostDone = "Almost done…"

    // The gate.
    case loading = "Loading…"
    case signInAgainTitle = "Sign In Again"
    case signOut = "Sign Out"
    case unavailableTitle = "Just a Moment"
    case tryAgain = "Try Again"
}
