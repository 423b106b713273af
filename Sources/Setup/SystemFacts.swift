// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
import Keystrokes
package import LinuxIO
package import Texts
package import Typing
package import Wedge

/// All that the doctor looks at, as a value: what the machine is, what this process may do, and what is asked for.
package struct SystemFacts: Equatable, Sendable {
    /// Whether the kernel makes Bluetooth sockets.
    package enum Sockets: Equatable, Sendable {
        /// It does.
        case available
        /// It knows no such family or protocol (EAFNOSUPPORT, EPROTONOSUPPORT).
        case unknown
        /// It refuses: the error, for people.
        case refused(String)
    }

    /// An adapter that the kernel manages.
    package struct Adapter: Equatable, Sendable {
        /// The kernel's number.
        package var index: ControllerIndex
        /// Its public address.
        package var address: BluetoothAddress
        /// Whether it can do Low Energy.
        package var hasLowEnergy = true
        /// Whether it is switched on.
        package var isPowered = true
        /// Blocked by software.
        package var isSoftBlocked = false
        /// Blocked by a switch or the firmware.
        package var isHardBlocked = false

        /// An adapter that works, until its properties say otherwise.
        package init(index: ControllerIndex, address: BluetoothAddress) {
            self.index = index
            self.address = address
        }

        /// The kernel's name.
        package var name: String { "hci\(index.rawValue)" }
    }

    /// Whether /dev/uinput can be opened.
    package enum UInput: Equatable, Sendable {
        /// It can.
        case open
        /// There is no node, or no module behind it.
        case missing(ModuleState)
        /// It is not ours to open.
        case notPermitted
        /// Another error, for people.
        case refused(String)
    }

    /// What is chosen.
    package enum Choice: Equatable, Sendable {
        /// No device.
        case none
        /// This one.
        case chosen(String)
        /// The file at this path cannot be read or understood, and why.
        case unreadable(path: String, reason: Message)
    }

    /// Whether the configuration can be used.
    package enum ConfigurationState: Equatable, Sendable {
        /// There is none, or it is correct.
        case correct
        /// It is wrong, and where.
        case wrong(path: String, reason: Message)
    }

    /// The daemon on this machine.
    package enum Daemon: Equatable, Sendable {
        /// Nobody answers, and nobody holds the lock.
        case none
        /// It is there, and does not answer; its process where that is known.
        case silent(pid: Int32?)
        /// It is there, and this process may not ask it.
        case hidden
        /// It runs, and says so.
        case running(Status)
    }

    /// What a running daemon says of itself.
    package struct Status: Equatable, Sendable {
        /// The session's state.
        package var state: Session.State
        /// Why it is in that state.
        package var reason: Message?
        /// The chosen device.
        package var device: String?
        /// Why its gate is closed; nil while it is open.
        package var pause: Message?
        /// Bytes received since its start.
        package var received: UInt64 = 0
        /// Of these, typed.
        package var typed: UInt64 = 0
        /// Of these, discarded or rejected by the table.
        package var discarded: UInt64 = 0
        /// Of these, lost.
        package var lost: UInt64 = 0
        /// The layout that it types with.
        package var layout: String?
        /// Its keyboard's event node.
        package var eventNode: String?
        /// What it could not read or keep of the choice.
        package var choiceFault: Message?
        /// Its process.
        package var pid: Int32

        /// The counts of bytes that were lost against the user's will, as the answer names them.
        static let losses = [Ledger.Loss.ringFull, .writeFailed, .tooOld].map { "\($0)" }

        /// A daemon in a state that has counted nothing yet.
        package init(state: Session.State, pid: Int32) {
            self.state = state
            self.pid = pid
        }
    }

    /// The kernel, as `uname -r` has it.
    package var kernelRelease = ""
    /// Whether there are Bluetooth sockets.
    package var sockets = Sockets.available
    /// The adapters that the kernel manages, by their number.
    package var adapters: [Adapter] = []
    /// Why they could not be asked for; nil where they could.
    package var adapterFault: Message?
    /// Controllers that the kernel has and does not let anyone manage: another program has them to itself.
    package var takenControllers: [String] = []
    /// Serial devices that firmware or device tree call Bluetooth controllers.
    package var serialControllers: [SerialDevice] = []
    /// Which adapter is meant.
    package var selector = AdapterSelector.any
    /// Running programs that manage Bluetooth, too.
    package var otherServices: [ProcessEntry] = []
    /// What this process lacks.
    package var missingCapabilities: [Capability] = []
    /// The device that makes keyboards.
    package var uinput = UInput.open
    /// Whether input devices get event nodes.
    package var hasEventNodes = true
    /// The keyboard's own event node, where it is to be read back and this process may not.
    package var unreadableEventNode: String?
    /// Whether the service is installed.
    package var isServiceInstalled = false
    /// What the configuration says.
    package var configuration = ConfigurationState.correct
    /// What is chosen.
    package var choice = Choice.none
    /// The daemon.
    package var daemon = Daemon.none
    /// The virtual terminal in front; nil where there is none, or it cannot be looked at.
    package var console: ConsoleState?
    /// A program on that terminal that asks for a login name or a password.
    package var loginPrompt: ProcessEntry?
    /// The layout that is typed with.
    package var layout = "us"
    /// The characters that come out otherwise on the terminal in front: what is meant, and what it gives.
    package var layoutDifferences: [LayoutDifference] = []

    /// Nothing known yet: no adapter, no choice, no daemon.
    package init() {}

    /// The adapter that is meant; nil where it is not there.
    package var adapter: Adapter? {
        switch selector {
        case .any: adapters.min { $0.index.rawValue < $1.index.rawValue }
        case .index(let index): adapters.first { $0.index == index }
        case .address(let address): adapters.first { $0.address == address }
        }
    }

    /// Whether it is this process that would use the adapter and the keyboard, and not a daemon with rights of its own.
    package var actsItself: Bool { daemon == .none && !isServiceInstalled }
}
