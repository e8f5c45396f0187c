/// A rule that no schedule may violate.
struct Invariant: Sendable {
    let rule: String
    /// Returns the violation, or `nil` if the rule holds.
    let find: @Sendable (Facts) -> String?

    static let all = [
        everyCallReturns, cancelledAtOnce, validTokensAreHandedOut, unavailableIsNotSignedOut,
        guestsGiveWay, signOutsEndSignIns, guestsSpareUnreadUsers, requestsKeepTheirSession, callsKeepTheirSession,
        callersGetTheirToken, callsFindTheirSession, expiredTokensAreNotSent, responsesStayWithTheirUser,
        cookiesStayWithTheirUser,
        downloadsStayWithTheirUser, emptiedClientsKeepNothing,
        adoptionsComeFirst, formerTokensAreKept,
        accountsStayApart, accountsStaySignedIn, currentAccountIsKept,
        failuresHaveACause, replaysHappen, probesHappen, oneGuestAtATime, statesHaveACause,
        signedOutAccountsSendNothing, endedSessionsReleaseCallers, refreshFailuresHaveACause,
        oneReplay, waitingCallsAreSent, probesAreLimited, tokensStayAtTheirOrigin, oneRefreshAtATime,
        spentTokensAreNotResent, lostLocksSpendNothing, refusedTokensAreNotResent, journalsComeFirst,
        backoffIsBounded, failuresAreShared, refreshesStartEarly, reuseHasACause, receivedTokensAreKept,
        refreshesHaveACaller,
        lateRejectionsStartNoRefresh, lostRotationHasACause, lostRotationIsReported, backoffIsKept, budgetIsKept,
        nextUserIsNotHeldUp,
        endedSessionsStayInvisible, endedSessionsSendNothing, endedSessionsAreNotStored, endedSessionsAreRevoked,
        currentSessionsAreNotRevoked, durableBeforeVisible, sessionsEndForAReason, signOutsAreNoExpiry,
        refusalsAreConfirmedWithTheLock, newerTokensAreAdopted, oneExpiry,
        recordsVanishForAReason, nothingDisappears, stateMatchesStore,
    ]
}
