// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
import Keystrokes
import LinuxIO
import SystemPackage

extension SystemFacts {
    /// What the keyboard is to be, as far as the machine has to fit it.
    package struct Wish: Sendable {
        /// Which adapter.
        package var selector: AdapterSelector
        /// Which layout.
        package var layout: String
        /// Whether the keyboard's own event node is read back.
        package var verifies: Bool

        /// All that is wished for.
        package init(selector: AdapterSelector, layout: String, verifies: Bool) {
            self.selector = selector
            self.layout = layout
            self.verifies = verifies
        }
    }

    /// Programs that manage adapters, by their first 15 bytes as /proc has them.
    private static let bluetoothServices = ["bluetoothd", "bluetooth-meshd"]
    /// Programs that ask for a name or a password.
    private static let loginPrompts = ["agetty", "getty", "mingetty", "fgetty", "login"]
    /// Where units are installed.
    private static let unitDirectories = ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"]

    /// Whether the service is installed on this machine.
    package static var isServiceInstalled: Bool {
        FileSystem.exists("/run/systemd/system")
            && unitDirectories.contains { FileSystem.exists("\($0)/blewedge.service") }
    }

    /// Looks at this machine; nothing on it is changed.
    package init(of wish: Wish, daemon: Daemon, selection: Selection, configuration: Configuration) {
        self.daemon = daemon
        self.selection = selection
        self.configuration = configuration
        selector = wish.selector
        layout = wish.layout
        kernelRelease = ModuleState.kernelRelease
        isServiceInstalled = Self.isServiceInstalled
        missingCapabilities = Capability.missing
        uinput = Self.uinputState()
        hasEventNodes = DeviceProbe.hasEventNodes()
        lookAtRadio()
        let processes = ProcessEntry.all()
        otherServices = processes.filter { Self.bluetoothServices.contains($0.name) }
        lookAtConsole(processes)
        if wish.verifies { lookAtEventNode() }
    }

    private mutating func lookAtRadio() {
        switch DeviceProbe.bluetoothFault() {
        case nil: break
        case .addressFamilyNotSupported?, .protocolNotSupported?:
            sockets = .unknown
            return
        case let error?:
            sockets = .refused("\(error)")
            return
        }
        do throws(AdapterError) {
            adapters = try AdapterCensus.take().map(Adapter.init)
        } catch {
            adapterFault = error.cause
        }
        let managed = Set(adapters.map(\.name))
        takenControllers = FileSystem.names(in: "/sys/class/bluetooth").filter {
            // Connections have a colon in their names.
            $0.hasPrefix("hci") && !$0.contains(":") && !managed.contains($0)
        }
        serialControllers = SerialDevice.bluetoothControllers()
    }

    private static func uinputState() -> UInput {
        switch DeviceProbe.uinputFault() {
        case nil: .open
        case .noSuchFileOrDirectory?, .operationNotSupportedByDevice?, .noSuchAddressOrDevice?:
            .missing(ModuleState("uinput"))
        case .permissionDenied?, .notPermitted?: .notPermitted
        case let error?: .refused("\(error)")
        }
    }

    private mutating func lookAtConsole(_ processes: [ProcessEntry]) {
        guard let console = ConsoleState() else { return }
        self.console = console
        loginPrompt = processes.first {
            $0.virtualTerminal == console.terminal && $0.isInFront && Self.loginPrompts.contains($0.name)
        }
        guard console.keys.isText, !console.isGraphic, !layout.hasPrefix("console"),
            let typed = try? LayoutSource.layout(layout), let keymap = try? ConsoleKeymap()
        else { return }
        layoutDifferences = LayoutDifference.between(typed, keymap.levels)
    }

    /// Whether the daemon can read its keyboard can be tried only where it is this user's.
    private mutating func lookAtEventNode() {
        guard case .running(let status) = daemon, FileSystem.owner(of: "/proc/\(status.pid)") == ProcessFacts.user,
            let node = status.eventNode, DeviceProbe.readingFault(node) == .permissionDenied
        else { return }
        unreadableEventNode = node
    }
}

extension SystemFacts.Adapter {
    /// An adapter as the kernel tells of it, with its switches.
    fileprivate init(_ entry: AdapterCensus.Entry) {
        self.init(index: entry.index, address: entry.information.address)
        hasLowEnergy = entry.information.supportedSettings.contains(.lowEnergy)
        isPowered = entry.information.currentSettings.contains(.powered)
        let rfkill = RFKill(controller: entry.index.rawValue)
        isSoftBlocked = rfkill?.isSoftBlocked ?? false
        isHardBlocked = rfkill?.isHardBlocked ?? false
    }
}

extension SystemFacts.Selection {
    /// The choice as a running daemon has it, else as a file has it.
    package init(_ daemon: SystemFacts.Daemon, _ store: SelectionStore) {
        guard case .running(let status) = daemon else {
            self.init(store)
            return
        }
        if let fault = status.selectionFault {
            self = .unreadable(path: store.path.string, reason: fault)
        } else {
            self = status.device.map { .chosen($0) } ?? .none
        }
    }

    /// The choice as a file has it.
    init(_ store: SelectionStore) {
        do throws(SelectionStore.Failure) {
            self = try store.read().map { .chosen($0.label) } ?? .none
        } catch {
            let failure = CommandFailure(error)
            self = .unreadable(path: store.path.string, reason: failure.cause)
        }
    }
}
