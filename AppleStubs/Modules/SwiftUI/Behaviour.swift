#if !os(macOS)
    public import UIKit
#endif

// https://developer.apple.com/documentation/swiftui/view/disabled(_:)
// https://developer.apple.com/documentation/swiftui/view/id(_:)
// https://developer.apple.com/documentation/swiftui/view/interactivedismissdisabled(_:)
// https://developer.apple.com/documentation/swiftui/view/sheet(ispresented:ondismiss:content:)
// https://developer.apple.com/documentation/swiftui/view/allowshittesting(_:)
// https://developer.apple.com/documentation/swiftui/view/submitlabel(_:)
// https://developer.apple.com/documentation/swiftui/view/onsubmit(of:_:)
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension View {
    public nonisolated func allowsHitTesting(_ enabled: Bool) -> some View { EmptyView() }
    public nonisolated func disabled(_ disabled: Bool) -> some View { EmptyView() }
    public nonisolated func id<ID: Hashable>(_ id: ID) -> some View { EmptyView() }
    @available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
    public nonisolated func interactiveDismissDisabled(_ isDisabled: Bool = true) -> some View { EmptyView() }
    public nonisolated func sheet<Content: View>(
        isPresented: Binding<Bool>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping () -> Content
    ) -> some View { EmptyView() }
    @available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
    public nonisolated func submitLabel(_ submitLabel: SubmitLabel) -> some View { EmptyView() }
    @available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
    public nonisolated func onSubmit(_ action: @escaping () -> Void) -> some View { EmptyView() }
}

// https://developer.apple.com/documentation/swiftui/view/task(priority:_:)
// https://developer.apple.com/documentation/swiftui/view/task(id:priority:_:)
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
extension View {
    public nonisolated func task(
        priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { EmptyView() }
    public nonisolated func task<T: Equatable>(
        id value: T, priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { EmptyView() }
}

#if !os(macOS)
    // https://developer.apple.com/documentation/swiftui/view/textcontenttype(_:)-ufdv
    @available(iOS 13, tvOS 13, visionOS 1, *)
    @available(macOS, unavailable)
    @available(watchOS, unavailable)
    extension View {
        public nonisolated func textContentType(_ textContentType: UITextContentType?) -> some View {
            EmptyView()
        }
    }
#endif
