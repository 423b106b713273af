// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
import Configuration
package import Control
package import Devices
import Keystrokes
package import LinuxIO
import SystemPackage
package import Texts
import Typing

/// Stand-in for a daemon that lacks required permissions (LK-10).
///
/// It reports this to clients, and checks periodically whether the daemon may start. Its state is `unauthorized`, and
/// it has neither a keyboard nor an adapter.
package final class PermissionWait {
    private static let interval = Duration.seconds(3)

    /// Handler for the state, which is reported at the start.
    package var onEvent: ((KeyboardService.Event) -> Void)?
    package var onStopAsked: (() -> Void)?
    /// Handler that is called once, when the permissions are granted.
    ///
    /// `needsRestart` is true if the program's file grants them, because a process receives such permissions only when
    /// it is started.
    package var onPermitted: ((_ needsRestart: Bool) -> Void)?

    private let options: Daemon.Options
    private let adapter: AdapterTransport
    private let hasKeyboard: Bool
    private let loop: EventLoop
    private let notifier: ServiceNotifier
    private let start = MonotonicClock.now
    /// Capabilities that the program's file already granted at the start; restarting for them would not help.
    private let grantedInVain = Set(Capability.allCases.filter(\.isGrantedByFile))
    private let missing: CommandFailure
    private var server: ControlServer?
    private var rivals = ConflictingProcesses()
    private let timer = LoopTimer()

    /// Returns the first permission that a daemon lacks, and how to grant it; nil if none is lacking.
    ///
    /// If `hasKeyboard` is false, nothing is typed through the kernel, so /dev/uinput is not needed.
    package static func missing(for adapter: AdapterTransport, hasKeyboard: Bool) -> CommandFailure? {
        let capabilities = Capability.missing
        if adapter.needsCapabilities, !capabilities.isEmpty {
            return CommandFailure(AdapterError.notPermitted(missing: capabilities))
        }
        guard hasKeyboard, let fault = DeviceProbe.uinputFault() else { return nil }
        let failure = CommandFailure(KeyboardError.notMade(fault))
        return failure.status == .permission ? failure : nil
    }

    /// Creates a stand-in that waits for the `missing` permission and answers clients.
    ///
    /// It checks the permissions from `begin` on.
    package init(
        _ options: Daemon.Options,
        _ adapter: AdapterTransport,
        hasKeyboard: Bool,
        missing: CommandFailure,
        on loop: EventLoop
    ) throws(CommandFailure) {
        self.options = options
        self.adapter = adapter
        self.hasKeyboard = hasKeyboard
        self.missing = missing
        self.loop = loop
        notifier = ServiceNotifier(on: loop)
        try reporting(options.paths.makeRuntimeDirectory)
        server = try ControlServer(
            at: options.paths.controlSocket.string,
            allowsKeys: options.allowsKeys,
            on: loop,
            handler: self
        )
    }

    /// Reports the state, and then checks the permissions every 3 s.
    package func begin() {
        report()
        notifier.ready()
        notifier.watch(hasAnswered: { true }, ask: {})
        lookLater()
    }

    /// Disconnects the clients; `isOver` is true if the program ends, and false if the daemon starts next.
    package func end(isOver: Bool) {
        timer.cancel()
        server?.close()
        server = nil
        if isOver { notifier.stopping() } else { notifier.reloading() }
    }

    private func lookLater() {
        timer.set(on: loop, after: Self.interval) { [unowned self] in look() }
    }

    private func look() {
        if Self.missing(for: adapter, hasKeyboard: hasKeyboard) == nil { return permitted(needsRestart: false) }
        let granted = Set(Capability.allCases.filter(\.isGrantedByFile))
        if granted.isSuperset(of: Capability.missing), granted != grantedInVain { return permitted(needsRestart: true) }
        lookLater()
    }

    private func permitted(needsRestart: Bool) {
        let handler = onPermitted
        onPermitted = nil
        handler?(needsRestart)
    }

    private var choice: DeviceSelector? {
        (try? ChoiceStore(options.paths.choice).read()).flatMap(\.self).map(DeviceSelector.kept)
    }

    private var event: KeyboardService.Event { .state(.unauthorized, device: nil, reason: Reason(missing)) }

    private func report() {
        notifier.tell(Session.State.unauthorized.sentence(choice, Reason(missing), in: .english))
        if let object = event.object(choice, of: nil) { server?.publish(object) }
        onEvent?(event)
    }

    private var status: DaemonStatus {
        DaemonStatus(
            state: .unauthorized,
            reason: Reason(missing),
            since: MonotonicClock.now - start,
            choice: choice,
            labels: options.labels,
            isPaused: false,
            counts: KeyboardService.Counts(),
            rivals: rivals.names(now: MonotonicClock.now)
        )
    }
}

extension PermissionWait: ControlHandler {
    package var currentEvents: [JSONObject] { event.object(choice, of: nil).map { [$0] } ?? [] }

    package func handle(_ request: ControlRequest, reply: @escaping (Result<JSONObject, CommandFailure>) -> Void) {
        switch request {
        case .status: reply(.success(status.object))
        case .stop:
            reply(.success(JSONObject()))
            // The delay allows the answer to be sent first.
            _ = loop.schedule(at: MonotonicClock.now + .milliseconds(20)) { [weak self] in self?.onStopAsked?() }
        default: reply(.failure(missing))
        }
    }

    package func conversation(for _: PairingRequest) throws(CommandFailure) -> any ControlConversation { throw missing }
}
