// SPDX-License-Identifier: GPL-2.0-or-later

/// The sentences about a link's end, in English, each standing here alone, as those of `AdapterSentence`.
package enum LinkSentence {
    package static let ended = "the device ended the connection"
    package static let outOfReach = "the device is out of reach"
    package static let aborted = "the connection was aborted"
    package static let notSecured = "the device did not prove that it is the paired one"
    package static let closed = "the device closed the channel"

    package static func refused(_ command: String, _ status: String) -> String {
        "the controller refused \(command): \(status)"
    }

    package static func notInTime(_ seconds: String) -> String { "no connection within \(seconds) s" }

    package static func noAnswer(_ request: String) -> String { "the device did not answer \(request) within 30 s" }

    package static func protocolBroken(_ fault: String) -> String {
        "the device broke the Attribute Protocol: \(fault)"
    }
}
