#if canImport(SwiftUI)
    internal import Combine
    internal import SwiftUI

    /// Shows something of an object, and anew whenever that changes. What the Observation framework watches needs no such
    /// view.
    struct Observing<Object: ObservableObject, Content: View>: View {
        @ObservedObject private var object: Object
        private let content: () -> Content

        init(_ object: Object, @ViewBuilder content: @escaping () -> Content) {
            _object = ObservedObject(wrappedValue: object)
            self.content = content
        }

        var body: some View { content() }
    }
#endif
