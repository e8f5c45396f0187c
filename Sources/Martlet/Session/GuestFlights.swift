/// What is under way to make a guest for a session. The session's manager has it, so that a guest is made once, however many
/// clients and services the app makes over it.
struct GuestFlights: Sendable {
    /// Signs in whoever a policy says. Registering a guest may be part of it, so that is a flight of its own.
    let policy: SingleFlight<Result<Void, NetworkError>>
    /// Registers a guest.
    let registration: SingleFlight<Result<Guest, NetworkError>>

    init(time: any TimeSource) {
        policy = SingleFlight(time: time)
        registration = SingleFlight(time: time)
    }
}
