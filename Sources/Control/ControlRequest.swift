// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import Configuration
package import Devices
package import Texts
package import Typing

/// A request of a client to the daemon: one line of words (D-9).
///
///     status                      use LINBLE-TEST            key 1 2 enter
///     version 1 scan 10 anew      use "LT01 BC000120" yes    send text "\x02R\x03"
///     use LINBLE-TEST security none
///     pair LINBLE-TEST security authenticated console yes-no seconds 30
///
/// `ControlLine` has the rules of words and quotation marks. A line may begin with `version 1`.
package enum ControlRequest: Equatable, Sendable {
    /// Tell the status: the state of the daemon at this moment.
    case status
    /// Tell of every event from now on, a line for each.
    case events
    /// The devices that were heard in the last minute, after listening for a time; with `isAnew` those that were heard in
    /// that time only.
    case scan(for: Duration, isAnew: Bool)
    /// Choose a device; `confirmed` where another one that is chosen may be given up for it (LK-8). With the least `security`
    /// of its link, or nil where nothing was said of it, which a device without keys is refused for.
    case use(DeviceSelector, confirmed: Bool, security: GATTLinkSecurity.Level? = nil)
    case forget
    /// Pair with a device: a conversation of `PairingEvent` and `PairingAnswer` lines follows on the same connection.
    case pair(PairingRequest)
    /// Connect to the chosen device, again after `disconnect`.
    case connect
    /// Close the link and leave it closed.
    case disconnect
    case pause
    /// Type again what comes.
    case resume
    case key([KeyName])
    /// Type the text of that title.
    case snippet(String)
    /// Empty the field that was typed into.
    case clear
    case send([UInt8])
    /// Write a command to the device when those before it have had their replies, and answer with its own (BT-6).
    case ask(ChatScript.Command)
    /// Beacons: what is watched, ranged, designated, and advertised.
    case beacons(BeaconRequest)
    /// Read the configuration again.
    case reload
    case stop

    /// The version of the requests and answers that are described here.
    package static let version = 1
    /// The usual duration of `scan`.
    package static let defaultScanTime = Duration.seconds(5)
    /// The longest duration of `scan`.
    package static let scanTimes = Duration.milliseconds(100) ... .seconds(60)

    /// The time, or the nearest that `scan` may listen.
    package static func scanTime(nearest time: Duration) -> Duration {
        min(max(time, scanTimes.lowerBound), scanTimes.upperBound)
    }

    package static let mostKeys = 256
    /// The most bytes of one `send`, which are those of the longest attribute value.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.9.
    package static let mostBytes = 512

    package enum Right: Sendable {
        /// Whoever can open the socket: the owner's group.
        case reading
        /// The socket's owner, and root.
        case changing
        /// The socket's owner, and root, unless keys are switched off in the configuration.
        case typing
    }

    package var right: Right {
        switch self {
        case .beacons(let request): request.isChange ? .changing : .reading
        case .status, .events, .scan: .reading
        case .key, .snippet, .clear: .typing
        case .use, .forget, .pair, .connect, .disconnect, .pause, .resume, .send, .ask, .reload, .stop: .changing
        }
    }
}

/// Why a line is no request: which word is wrong, counted from 1, and what stands there.
package struct ControlFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The word, counted from 1; one more than there are where one is missing.
    package var word: Int
    /// The fault of the word, in words.
    package var reason: String

    /// `word 2: …`.
    package var description: String { "word \(word): \(reason)" }

    init(_ word: Int, _ reason: String) {
        self.word = word
        self.reason = reason
    }
}

/// Who may ask for what on the control socket (D-9).
///
/// Whoever can open the socket may read; the socket's owner and root may change and type.
package struct ControlRights: Sendable {
    /// The user that the socket belongs to.
    package var owner: UInt32
    /// False where the configuration says `keys = off`.
    package var allowsKeys: Bool

    package init(owner: UInt32, allowsKeys: Bool = true) {
        self.owner = owner
        self.allowsKeys = allowsKeys
    }

    /// True for users who may change things, as the configuration permits.
    package func isTrusted(_ user: UInt32) -> Bool { user == owner || user == 0 }

    /// Why this user may not ask for that; nil where it is allowed.
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
