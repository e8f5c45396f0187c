/// What is under way to make a guest for a session. The session's manager has it, so that a guest is made once, however many
/// clients and services the app makes over it.
struct GuestFlights: Sendable {
    /// Signs in whoever a policy says. Registering a guest may be part of it, so that is a flight of its own. It goes on when
    /// the calls are cancelled that needed it: the next ones need the same guest, and the server may have made it by now.
    let policy: SingleFlight<Result<Void, NetworkError>>
    /// Registers a guest for a person, who may think better of it.
    let registration: SingleFlight<Result<Guest, NetworkError>>

    init(time: any TimeSource) {
        policy = SingleFlight(time: time, outlivesCallers: true)
        registration = SingleFlight(time: time, outlivesCallers: false)
    }
}
