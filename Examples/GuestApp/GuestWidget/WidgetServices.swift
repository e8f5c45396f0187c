import GuestKit
import Martlet
import MartletBackground
import WidgetKit

/// The objects that live as long as the widget's process.
final class WidgetServices: Sendable {
    /// `nil` if the widget is not signed for the app group.
    static let shared = WidgetServices()

    let headlines: Headlines
    let transfers: BackgroundTransfers
    private let folder: String

    private init?() {
        guard let shared = SharedSession() else { return nil }
        // A widget has no launch arguments. To use another server, store its address in the group's container.
        let tokens = Backend.tokens(server: "http://localhost:8080", store: shared.store())
        var options = BackgroundTransferOptions()
        options.sharedContainerIdentifier = SharedSession.group
        options.folder = shared.transfersFolder(of: .widget)
        let identifier = SharedSession.transfersIdentifier(of: .widget)
        guard
            let transfers = try? BackgroundTransfers(
                identifier: identifier, client: Backend.client(tokens), options: options)
        else { return nil }
        self.transfers = transfers
        headlines = Headlines(tokens: tokens, folder: shared.folder)
        folder = shared.folder
        Task { for await transfer in transfers.events { await finish(transfer) } }
    }

    /// Starts to load the newest articles, unless a load is in progress.
    func load() async {
        guard let known = try? await transfers.transfers, known.allSatisfy(\.hasEnded) else { return }
        _ = try? await transfers.download(Headlines.newest, to: folder + "/newest.json")
    }

    private func finish(_ transfer: BackgroundTransfer) async {
        guard transfer.hasEnded else { return }
        if case .finished = transfer.stage, let path = transfer.path {
            try? headlines.keep(responseAt: path)
            WidgetCenter.shared.reloadAllTimelines()
        }
        await transfers.remove(transfer.id)
    }
}
