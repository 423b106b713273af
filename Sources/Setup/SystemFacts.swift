// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
package import BluetoothHost
package import BluetoothPackets
import Control
package import Daemon
package import Devices
package import Keystrokes
package import LinuxIO
import SystemPackage
package import Texts
package import Typing

/// The facts that the doctor examines: the state of the machine, this process's permissions, and the configuration.
package struct SystemFacts: Equatable, Sendable {
    /// The kernel's support for Bluetooth sockets.
    package enum Sockets: Equatable, Sendable {
        case available
        /// The kernel does not know the address family or the protocol (EAFNOSUPPORT, EPROTONOSUPPORT).
        case unknown
        /// The kernel refuses to create a socket; the value describes the error.
        case refused(String)
    }

    package struct Adapter: Equatable, Sendable {
        /// Index of the adapter: 0 is hci0.
        package var index: ControllerIndex
        package var address: BluetoothAddress
        package var hasLowEnergy = true
        package var isPowered = true
        /// True if rfkill blocks the radio in software.
        package var isSoftBlocked = false
        /// True if a switch or the firmware blocks the radio.
        package var isHardBlocked = false

        package init(index: ControllerIndex, address: BluetoothAddress) {
            self.index = index
            self.address = address
        }

        /// Name of the adapter, such as `hci0`.
        package var name: String { "hci\(index.rawValue)" }
    }

    package enum UInput: Equatable, Sendable {
        case open
        case missing(ModuleState)
        /// This process lacks the permission to open it.
        case notPermitted
        /// Opening it fails with another error; the value describes the error.
        case refused(String)
    }

    package enum Choice: Equatable, Sendable {
        case none
        case chosen(String)
        /// The file at this path cannot be read or decoded; `reason` says why.
        case unreadable(path: String, reason: Message)
    }

    package enum ConfigurationState: Equatable, Sendable {
        /// The file is correct or does not exist.
        case correct
        /// The file at this path is wrong; `reason` names the line.
        case wrong(path: String, reason: Message)
    }

    package enum Daemon: Equatable, Sendable {
        /// No daemon answers, and no process holds the lock of an adapter.
        case none
        /// A daemon exists but does not answer; `pid` is its process number, if known.
        case silent(pid: Int32?)
        /// A daemon listens, but this process may not connect to it.
        case hidden
        /// A daemon is running, and has reported this status.
        case running(Status)
    }

    /// The status that a running daemon reports.
    package struct Status: Equatable, Sendable {
        package var state: Session.State
        package var reason: Message?
        package var remedy: Message?
        /// Transport of the controller in use; nil if no controller is in use.
        package var transport: AdapterTransport?
        package var hasOtherOutput = false
        package var device: String?
        /// Reason why the gate is closed, which disables typing; nil while the gate is open.
        package var pause: Message?
        /// Number of bytes received since the daemon started.
        package var received: UInt64 = 0
        package var typed: UInt64 = 0
        /// Number of received bytes that the table has discarded or rejected.
        package var discarded: UInt64 = 0
        package var lost: UInt64 = 0
        /// Counts of the values that arrived before the encryption.
        package var early = StatusAnswer.Early()
        /// Name of the adapter in use; nil if none is in use.
        package var adapter: String?
        /// Address of the selected device; nil if it is not known.
        package var address: String?
        package var layout: String?
        package var eventNode: String?
        /// A list of the keys beyond text that the daemon's keyboard may press; nil if there are none.
        package var allows: Message?
        /// Error that occurred when the selected device was read or stored; nil if there was none.
        package var choiceFault: Message?
        /// The daemon's beacon status; nil if it was not requested.
        package var beacons: Beacons?
        package var pid: Int32

        /// Names of the counters for bytes that were lost because of a fault.
        static let losses = [Ledger.Loss.ringFull, .writeFailed, .tooOld].map { "\($0)" }

        package init(state: Session.State, pid: Int32) {
            self.state = state
            self.pid = pid
        }
    }

    /// The beacon status of a running daemon.
    package struct Beacons: Equatable, Sendable {
        /// Number of watched regions.
        package var watched = 0
        /// Reason why beacons cannot be received; nil if they can be received.
        package var fault: Message?
        /// Reason why the configured beacon is not advertised; nil if it is advertised, or if none is configured.
        package var advertisingFault: Message?

        package init() {}
    }

    /// Kernel version; nil if it cannot be read.
    package var kernelVersion: KernelVersion?
    /// True if connections use the kernel's L2CAP sockets; false if the user channel or H4 is used.
    package var usesKernelChannels = true
    /// True if the kernel manages the controller; false if the controller is on an H4 stream.
    package var usesKernelController = true
    /// True if the output is the keyboard; false for a terminal, a socket or standard output.
    package var usesKeyboard = true
    /// State of each kernel feature that the product can use; empty if the kernel was not probed.
    package var kernel: [KernelFeature: KernelFeature.State] = [:]
    package var sockets = Sockets.available
    /// The adapters that the kernel manages, sorted by index.
    package var adapters: [Adapter] = []
    /// Error that occurred when the adapters were read; nil if there was none.
    package var adapterFault: Message?
    /// Names of controllers that exist but that the kernel does not manage, because another program uses them
    /// exclusively.
    package var takenControllers: [String] = []
    /// Serial devices that the firmware or the device tree declares as Bluetooth controllers.
    package var serialControllers: [SerialDevice] = []
    package var selector = AdapterSelector.any
    /// Processes of other programs that manage Bluetooth.
    package var otherServices: [ProcessEntry] = []
    package var missingCapabilities: [Capability] = []
    package var uinput = UInput.open
    package var hasEventNodes = true
    /// The keyboard's event node, if the self-check needs it but the daemon's user may not read it; nil otherwise.
    package var unreadableEventNode: String?
    /// Kind of event queue of the applications that read the keyboard, as configured.
    package var queue = ReaderQueue.large
    /// A file that shows that Xorg uses the evdev driver or has no other driver; nil if there is no such file.
    package var oldInputDriver: String?
    /// Service manager with which blewedge is installed as a service; nil if it is not installed.
    package var service: ServiceManager?
    /// True if `blewedge setup` supports the service manager of this machine.
    package var hasManager = true
    package var configuration = ConfigurationState.correct
    /// True if beacon regions are watched according to the configuration.
    package var watchesBeacons = false
    package var choice = Choice.none
    /// Address of the selected device if it must be authenticated but only has keys from legacy pairing; nil otherwise.
    package var legacyBond: String?
    package var daemon = Daemon.none
    /// Foreground virtual terminal; nil if there is none, or if it cannot be read.
    package var console: ConsoleState?
    /// Process on the foreground terminal that asks for a login name or a password; nil if there is none.
    package var loginPrompt: ProcessEntry?
    package var layout = "us"
    /// Characters for which the foreground terminal produces other characters.
    package var layoutDifferences: [LayoutDifference] = []

    /// Creates the facts of a machine that has no adapter, no selected device, and no daemon.
    package init() {}

    /// Returns true if the kernel was probed for the feature and lacks it.
    func lacks(_ feature: KernelFeature) -> Bool {
        if case .absent? = kernel[feature] { true } else { false }
    }

    package var isServiceInstalled: Bool { service != nil }

    /// Command that starts the daemon on this machine.
    package var startCommand: String { service?.start ?? (hasManager ? "blewedge setup" : "blewedge run") }

    /// Sets the controller and the kind of output that are in use.
    package mutating func use(_ transport: AdapterTransport, isKeyboard: Bool) {
        selector = transport.selector ?? .any
        usesKernelChannels = transport.isShared
        usesKernelController = transport.needsCapabilities
        usesKeyboard = isKeyboard
    }

    /// The selected adapter; nil if it does not exist.
    package var adapter: Adapter? {
        switch selector {
        case .any: adapters.min { $0.index.rawValue < $1.index.rawValue }
        case .index(let index): adapters.first { $0.index == index }
        case .address(let address): adapters.first { $0.address == address }
        }
    }

    /// True if this process would use the adapter and the keyboard itself.
    ///
    /// This is the case if no daemon is running and no service is installed.
    package var actsItself: Bool { daemon == .none && !isServiceInstalled }
}

extension SystemFacts.Daemon {
    /// Time-out for a daemon's answer to `status`.
    private static let patience = Duration.seconds(3)

    /// Requests the status of a daemon; if several places have a listening daemon, the first counts.
    package init(at places: [DaemonPaths]) {
        var process: Int32?
        do throws(CommandFailure) {
            var client = try ControlClient(at: places.map(\.controlSocket.string), patience: Self.patience)
            process = client.process
            let answer = try client.status(patience: Self.patience)
            guard var status = answer.flatMap(SystemFacts.Status.init) else {
                self = .silent(pid: process)
                return
            }
            if let answer = try? client.ask(.beacons(.status), patience: Self.patience) {
                status.beacons = SystemFacts.Beacons(BeaconsAnswer(answer.value))
            }
            self = .running(status)
        } catch {
            let silent = process ?? Self.holder(places)
            switch error.status {
            case .permission: self = .hidden
            case .unavailable: self = silent.map { .silent(pid: $0) } ?? .none
            default: self = .silent(pid: silent)
            }
        }
    }

    /// The daemon's status; nil if it has not reported any.
    var status: SystemFacts.Status? {
        guard case .running(let status) = self else { return nil }
        return status
    }

    /// Returns the process number of a daemon that holds the lock of an adapter; nil if there is none.
    ///
    /// Other commands also hold such a lock: `simulate`, `scan`, `gatt`.
    private static func holder(_ places: [DaemonPaths]) -> Int32? {
        places.lazy.flatMap { place in
            FileSystem.names(in: place.runtime.string).filter { $0.hasSuffix(".lock") }.compactMap {
                LockFile.holder(place.runtime.appending($0))
            }
        }.first { ProcessEntry.arguments(of: $0).dropFirst().first == "run" }
    }
}

extension SystemFacts.Status {
    /// Creates the facts from an answer to `status`; nil if the answer contains no process number.
    package init?(_ answer: StatusAnswer) {
        guard let process = answer.process else { return nil }
        self.init(state: answer.state, pid: process)
        reason = answer.reason?.cause
        remedy = answer.reason?.remedy
        transport = answer.adapter.flatMap { try? AdapterTransport($0) }
        hasOtherOutput = answer.hasReaders
        device = answer.device
        adapter = answer.adapter
        address = (answer.selection?.device ?? answer.heard).map { "\($0.address)" }
        early = answer.early
        layout = answer.layout
        eventNode = answer.keyboard
        choiceFault = answer.choiceFault?.cause
        allows = answer.allows
        pause = answer.isTyping ? nil : answer.gate?.cause ?? ReasonText.gateClosed.message()
        received = answer.count("received")
        typed = answer.count("typed")
        discarded = answer.count("discarded").addingWithoutOverflow(answer.count("rejected"))
        for loss in SystemFacts.Status.losses { lost = lost.addingWithoutOverflow(answer.count(loss)) }
    }
}

extension SystemFacts.Beacons {
    /// Creates the facts from an answer to `beacons status`.
    package init(_ answer: BeaconsAnswer) {
        watched = answer.watched
        fault = answer.hindrance?.cause
        advertisingFault = answer.advertisingFault?.cause
    }
}

extension UInt64 {
    /// Returns the sum, or `UInt64.max` if the addition overflows.
    fileprivate func addingWithoutOverflow(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

/// Finds out which input driver Xorg uses: libinput or its predecessor evdev.
enum InputDriver {
    /// Directories that contain Xorg's logs.
    private static let logs = ["/var/log"]
    /// Directories that contain Xorg's input drivers.
    private static let modules = ["/usr/lib/xorg/modules/input", "/usr/lib64/xorg/modules/input"]
    /// Maximum size of a log to examine, in bytes.
    private static let longestLog = 16 << 20

    /// Returns a file that shows that Xorg reads the virtual keyboard with evdev, or that Xorg lacks libinput.
    ///
    /// Returns nil if there is no such file. A log names the driver of each device; the next start of Xorg overwrites
    /// it.
    static func evidenceOfEvdev(logs: [String] = logs, modules: [String] = modules) -> String? {
        let uses = "Using input driver 'evdev' for '\(VirtualKeyboard.name)'"
        for directory in logs {
            for name in FileSystem.names(in: directory) where name.hasPrefix("Xorg.") && name.hasSuffix(".log") {
                let path = "\(directory)/\(name)"
                guard let bytes = try? FileSystem.contents(of: path, limit: longestLog) else { continue }
                let lines = bytes.split(separator: UInt8(ascii: "\n"))
                if lines.contains(where: { String(decoding: $0, as: UTF8.self).hasSuffix(uses) }) { return path }
            }
        }
        for directory in modules where !FileSystem.exists("\(directory)/libinput_drv.so") {
            let path = "\(directory)/evdev_drv.so"
            if FileSystem.exists(path) { return path }
        }
        return nil
    }
}
