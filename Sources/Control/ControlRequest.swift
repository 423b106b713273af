// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import Configuration
package import Devices
package import Texts
package import Typing

/// Client request to the daemon: one line of words (D-9).
///
///     status                      use LINBLE-TEST            key 1 2 enter
///     version 1 scan 10 anew      use "LT01 BC000120" yes    send text "\x02R\x03"
///     use LINBLE-TEST security none
///     device scanner2 connect
///     pair LINBLE-TEST security authenticated console yes-no seconds 30
///
/// `ControlLine` defines the rules for words and quotation marks. A line may begin with `version 1`.
package indirect enum ControlRequest: Equatable, Sendable {
    /// Report the current status of the daemon.
    case status
    /// Stream all events from now on, one line each.
    case events
    /// List the devices heard in the last minute, after scanning for this time.
    ///
    /// With `isAnew`, list only the devices heard during this scan.
    case scan(for: Duration, isAnew: Bool)
    /// Return the last received value in hexadecimal; values are kept only while a client requests them.
    case received
    /// Select a device with the minimum `security` of its link.
    ///
    /// With `confirmed`, it may replace another selected device (LK-8). A nil `security` means that the client gave
    /// none; an unpaired device is then rejected.
    case use(DeviceSelector, confirmed: Bool, security: GATTLinkSecurity.Level? = nil)
    case forget
    /// Pair with a device; after the answer, the connection carries `PairingEvent` and `PairingAnswer` lines.
    case pair(PairingRequest)
    /// Connect to the selected device, even after `disconnect`.
    case connect
    /// Close the link and keep it closed.
    case disconnect
    case pause
    /// Resume typing.
    case resume
    case key([KeyName])
    /// Type the snippet with this title.
    case snippet(String)
    /// Clear the field that has been typed into.
    case clear
    /// Type the latest value of a scale or sensor whose values are typed on request.
    case value
    case send([UInt8])
    /// Write a command to the device after earlier commands have been answered, and return the reply (BT-6).
    case ask(ChatScript.Command)
    /// Watch, range, designate or advertise beacons.
    case beacons(BeaconRequest)
    /// Reload the configuration.
    case reload
    case stop
    /// Perform the request for the device with this name in the configuration.
    ///
    /// It is one of the requests that concern a device (`concernsDevice`).
    case device(String, ControlRequest)

    /// Version of the protocol described here.
    package static let version = 1
    /// Default duration of `scan`.
    package static let defaultScanTime = Duration.seconds(5)
    /// Longest time that a scan waits until the adapter is open and a connection attempt has ended.
    package static let scanDelay = Duration.seconds(10)
    /// Permitted durations of `scan`.
    package static let scanTimes = Duration.milliseconds(100) ... .seconds(60)

    /// Clamps the time to the permitted durations of `scan`.
    package static func scanTime(nearest time: Duration) -> Duration {
        min(max(time, scanTimes.lowerBound), scanTimes.upperBound)
    }

    package static let mostKeys = 256
    /// Maximum length of `send`, in bytes: the maximum length of an attribute value.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.9.
    package static let mostBytes = 512

    package enum Right: Sendable {
        /// Any user who can open the socket: the owner and members of the owner's group.
        case reading
        /// The socket's owner and root.
        case changing
        /// The socket's owner and root, unless keys are disabled in the configuration.
        case typing
    }

    /// True if the request is for one device, which must be named if the daemon has several.
    package var concernsDevice: Bool {
        switch self {
        case .received, .use, .forget, .connect, .disconnect, .value, .send, .ask: true
        default: false
        }
    }

    package var right: Right {
        switch self {
        case .device(_, let request): request.right
        case .beacons(let request): request.isChange ? .changing : .reading
        case .status, .events, .scan: .reading
        case .key, .snippet, .clear, .value: .typing
        case .received, .use, .forget, .pair, .connect, .disconnect, .pause, .resume, .send, .ask, .reload, .stop:
            .changing
        }
    }
}

/// Error in parsing a line.
package struct ControlFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// Number of the faulty word, counted from 1; if a word is missing, the number that it would have.
    package var word: Int
    /// Description of the error.
    package var reason: String

    /// One-line description: `word 2: …`.
    package var description: String { "word \(word): \(reason)" }

    init(_ word: Int, _ reason: String) {
        self.word = word
        self.reason = reason
    }
}

/// Access rights on the control socket (D-9).
///
/// Any user who can open the socket may read; only the socket's owner and root may change and type.
package struct ControlRights: Sendable {
    /// User that owns the socket.
    package var owner: UInt32
    /// False if the configuration says `keys = off`.
    package var allowsKeys: Bool

    package init(owner: UInt32, allowsKeys: Bool = true) {
        self.owner = owner
        self.allowsKeys = allowsKeys
    }

    /// Returns true if this user may make changes, unless the configuration forbids them.
    package func isTrusted(_ user: UInt32) -> Bool { user == owner || user == 0 }

    /// Returns a failure if this user may not make the request, else nil.
    package func refusal(of request: ControlRequest, by user: UInt32) -> CommandFailure? {
        let right = request.right
        guard right == .reading || isTrusted(user) else {
            return CommandFailure(.permission, ControlFaultText.readingOnly, "\(user)", "\(owner)")
        }
        guard right != .typing || allowsKeys else {
            return CommandFailure(.permission, KeyboardFaultText.keysOff)
        }
        return nil
    }
}
