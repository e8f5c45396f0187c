// API that only some of Apple platforms have.

internal import Foundation
internal import SwiftUI

#if canImport(LocalAuthentication)
    internal import LocalAuthentication

    func reason(_ context: LAContext) -> String {
        context.localizedReason  // too new on watchOS: LAContext.localizedReason
    }
#endif

#if canImport(UIKit)
    internal import UIKit

    func announcement() -> UIAccessibility.Notification {
        .announcement  // too new on watchOS: UIAccessibility.Notification.announcement
    }
#endif

@MainActor func choices() -> some View {
    // too new on watchOS: Menu.init(content:label:)
    Menu {
        Text("One")
    } label: {
        Text("Choices")
    }
}
