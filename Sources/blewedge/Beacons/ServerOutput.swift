// SPDX-License-Identifier: GPL-2.0-or-later

import BeaconServer
import LinuxIO
import Texts

/// Where the commands that ask a server of beacons print: for people, or for programs.
struct ServerOutput {
    /// Whether a program reads it.
    let isJSON: Bool
    /// What takes data.
    let write: (String) throws -> Void
    /// What takes notes for people.
    let note: (Message) -> Void

    /// The streams of this process, if nothing else is given.
    init(
        isJSON: Bool,
        write: @escaping (String) throws -> Void = { try StandardStream.output.write($0) },
        note: @escaping (Message) -> Void = { Console.note($0) }
    ) {
        (self.isJSON, self.write, self.note) = (isJSON, write, note)
    }

    /// Prints an object.
    func tell(_ object: JSONObject) throws { try write(object.text + "\n") }

    /// Prints an error for programs, with its number of the document's, or its status of HTTP.
    func tell(_ fault: ServerFault) throws {
        guard isJSON else { return }
        var object = JSONObject()
        object.add("ok", false)
        object.add(membersOf: Self.members(of: fault))
        try tell(object)
    }

    /// What programs are told of an error.
    static func members(of fault: ServerFault) -> JSONObject {
        var object = JSONObject()
        object.add("error", fault.error?.rawValue)
        object.add("status", fault.status)
        object.add("cause", CommandFailure(fault).cause)
        return object
    }
}
