// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
package import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
package import Devices
import Keystrokes
import LinuxIO
import SystemPackage
import Texts
import Typing

extension SystemFacts {
    /// Names of programs that manage adapters, truncated to 15 bytes like the names in /proc.
    private static let bluetoothServices = ["bluetoothd", "bluetooth-meshd"]
    /// Names of programs that ask for a login name or a password.
    private static let loginPrompts = ["agetty", "getty", "mingetty", "fgetty", "login"]
    private static let unitDirectories = ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"]

    /// The service manager of this machine if blewedge is installed as its service; nil otherwise.
    package static var installedService: ServiceManager? {
        guard let manager = ServiceManager.ofThisMachine else { return nil }
        let paths =
            switch manager {
            case .systemd: unitDirectories.map { "\($0)/blewedge.service" }
            case .runit: ["/etc/sv/blewedge/run"]
            case .openrc, .sysvinit, .busybox: ["/etc/init.d/blewedge"]
            }
        return paths.contains(where: FileSystem.exists) ? manager : nil
    }

    /// Collects the facts about this machine, without changing anything.
    ///
    /// `places` are the paths where a daemon may listen, beginning with the user's own. `adapter` and `named` replace
    /// the adapter and the layout of the daemon or the configuration. Without `known`, the daemon is asked, which can
    /// take seconds.
    package init(
        at places: [DaemonPaths],
        adapter: AdapterTransport?,
        layout named: String?,
        daemon known: Daemon? = nil
    ) {
        daemon = known ?? Daemon(at: places)
        // If the service is installed, the diagnosis concerns the service, not the user.
        let place = Self.installedService != nil ? DaemonPaths.system : places.first ?? .system
        choice = Choice(daemon, ChoiceStore(place.choice))
        let asked = ConfigurationState.read(place.configurationFile)
        configuration = asked.state
        // A running daemon may have been started with options that differ from the configuration.
        use(
            adapter ?? daemon.status?.transport ?? asked.configuration.adapter,
            isKeyboard: daemon.status.map { !$0.hasOtherOutput } ?? asked.configuration.hasKeyboard
        )
        layout = named ?? daemon.status?.layout ?? asked.configuration.layout
        kernelVersion = .running
        service = Self.installedService
        hasManager = ServiceManager.ofThisMachine != nil
        missingCapabilities = usesKernelController ? Capability.missing : []
        hasEventNodes = DeviceProbe.hasEventNodes()
        lookAtKernel()
        lookAtRadio()
        let processes = ProcessEntry.all()
        otherServices = processes.filter { Self.bluetoothServices.contains($0.name) }
        lookAtConsole(processes)
        queue = asked.configuration.queue
        watchesBeacons = asked.configuration.beacons.isWatching
        oldInputDriver = InputDriver.evidenceOfEvdev()
        if asked.configuration.verifies { lookAtEventNode() }
        legacyBond = Self.legacyBond(at: place, least: asked.configuration.security)
    }

    /// Returns the address of the selected device if it must be authenticated but only has legacy keys.
    ///
    /// Returns nil otherwise, or if the keys cannot be read.
    package static func legacyBond(at place: DaemonPaths, least: GATTLinkSecurity.Level) -> String? {
        guard let kept = try? ChoiceStore(place.choice).read(), max(kept.security, least) >= .authenticated else {
            return nil
        }
        let bonds = BondStore(place.bonds).peek().filter { $0.identityAddress == kept.device }
        return !bonds.isEmpty && bonds.allSatisfy(\.isLegacy) ? "\(kept.device.address)" : nil
    }

    package mutating func lookAtKernel(sysfs: String = "/sys") {
        uinput = Self.uinputState()
        switch DeviceProbe.bluetoothFault() {
        case nil: break
        case .addressFamilyNotSupported?, .protocolNotSupported?: sockets = .unknown
        case let error?: sockets = .refused("\(error)")
        }
        kernel = KernelFeature.ask(self, sysfs: sysfs)
    }

    private mutating func lookAtRadio() {
        guard sockets == .available, !lacks(.epoll) else { return }
        do throws(AdapterError) {
            adapters = try AdapterEnumerator.take().map(Adapter.init)
        } catch {
            adapterFault = CommandFailure(error).cause
        }
        let managed = Set(adapters.map(\.name))
        takenControllers = FileSystem.names(in: "/sys/class/bluetooth").filter {
            // Skip names that contain a colon, because they belong to connections.
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

    /// Records the keyboard's event node if the daemon cannot read it.
    ///
    /// This can be tested only if the daemon runs as this process's user.
    private mutating func lookAtEventNode() {
        guard let status = daemon.status, ProcessFacts.user(of: status.pid) == ProcessFacts.user,
            let node = status.eventNode, DeviceProbe.readingFault(node) == .permissionDenied
        else { return }
        unreadableEventNode = node
    }
}

extension SystemFacts.Adapter {
    /// Creates an adapter from the information that the kernel provides, and from the adapter's rfkill switches.
    fileprivate init(_ entry: AdapterEnumerator.Entry) {
        self.init(index: entry.index, address: entry.information.address)
        hasLowEnergy = entry.information.supportedSettings.contains(.lowEnergy)
        isPowered = entry.information.currentSettings.contains(.powered)
        let rfkill = RFKill(controller: entry.index.rawValue)
        isSoftBlocked = rfkill?.isSoftBlocked ?? false
        isHardBlocked = rfkill?.isHardBlocked ?? false
    }
}

extension SystemFacts.ConfigurationState {
    /// Reads a configuration and the files that it names.
    ///
    /// If a file is wrong or missing, returns the default configuration.
    fileprivate static func read(_ path: FilePath) -> (state: Self, configuration: Configuration) {
        do throws(ConfigurationError) {
            let configuration = try Configuration.read(path)
            _ = try configuration.settings(device: nil)
            _ = try configuration.regions()
            return (.correct, configuration)
        } catch {
            // The daemon may be able to read a file that this process may not read.
            let failure = error.failure
            guard failure.status == .configuration else { return (.correct, Configuration()) }
            return (.wrong(path: path.string, reason: failure.cause.firstLine), Configuration())
        }
    }
}

extension SystemFacts.Choice {
    /// Determines the selected device: the one that a running daemon reports or, if none is running, the one in the
    /// file.
    package init(_ daemon: SystemFacts.Daemon, _ store: ChoiceStore) {
        guard let status = daemon.status else {
            self.init(store)
            return
        }
        if let fault = status.choiceFault {
            self = .unreadable(path: store.path.string, reason: fault)
        } else {
            self = status.device.map { .chosen($0) } ?? .none
        }
    }

    init(_ store: ChoiceStore) {
        do throws(ChoiceStore.Failure) {
            self = try store.read().map { .chosen($0.label) } ?? .none
        } catch {
            let failure = CommandFailure(error)
            self = .unreadable(path: store.path.string, reason: failure.cause)
        }
    }
}
