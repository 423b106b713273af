// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
import BluetoothPackets
import Devices
package import LinuxIO
package import Texts

/// Client's side of a conversation with the daemon, on an event loop.
package final class ControlTalk {
    package var onLine: ((ControlClient.Answer) -> Void)?
    /// Handler called once, when the daemon has closed the connection or the connection has failed.
    package var onEnd: ((CommandFailure) -> Void)?

    private var client: ControlClient
    private let loop: EventLoop
    private var registration: EventLoop.Registration?

    /// Takes over the connection of a client whose request was accepted.
    ///
    /// Lines that were already received are delivered from the loop.
    package init(_ client: consuming ControlClient, on loop: EventLoop) throws(CommandFailure) {
        self.client = client
        self.loop = loop
        registration = try self.client.watch(on: loop) { [weak self] in self?.read() }
        _ = loop.schedule(at: .zero) { [weak self] in self?.read() }
    }

    deinit { close() }

    /// Sends a line, given without its line feed.
    package func say(_ line: String) {
        guard registration != nil else { return }
        do throws(CommandFailure) {
            try client.say(line)
        } catch {
            end(error)
        }
    }

    /// Ends the conversation; no handler is called afterwards.
    package func close() {
        (onLine, onEnd) = (nil, nil)
        if let registration { client.unwatch(registration, on: loop) }
        registration = nil
    }

    private func read() {
        guard registration != nil else { return }
        var lines: [ControlClient.Answer] = []
        var failure: CommandFailure?
        do throws(CommandFailure) {
            try client.takeArrived { lines.append($0) }
        } catch {
            failure = error
        }
        // A handler may answer or end the conversation.
        for line in lines { onLine?(line) }
        if let failure { end(failure) }
    }

    private func end(_ failure: CommandFailure) {
        let handler = onEnd
        close()
        handler?(failure)
    }
}

// Lines of a pairing conversation (D-9): events from the daemon, and answers from its client.

extension PairingEvent {
    /// Event in the form sent by the daemon.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("event", name)
        switch self {
        case .listening, .ask(.enter): break
        case .pairing(let device):
            object.add("address", "\(device.address)")
            object.add("addressType", "\(device.type)")
        case .ask(.compare(let number)), .show(let number): object.add("number", PairingAnswer.digits(number))
        case .note(let reason):
            object.add("cause", reason.cause)
            object.add("remedy", reason.remedy)
            object.addForms([("cause", reason.cause), ("remedy", reason.remedy)])
        case .paired(let bond): object.add(membersOf: bond.object)
        case .failed(let failure): object.add("error", JSONObject(failure))
        }
        return object
    }

    /// Name of the event, also used in the command's output for programs.
    package var name: String {
        switch self {
        case .listening: "listening"
        case .pairing: "pairing"
        case .ask(.compare): "compare"
        case .ask(.enter): "passkeyWanted"
        case .show: "passkey"
        case .note: "note"
        case .paired: "paired"
        case .failed: "failed"
        }
    }

    /// Parses an event sent by the daemon; returns nil if it is unknown or if a member is missing.
    package init?(_ value: JSONValue) {
        let number = value["number"]?.string.flatMap { PairingAnswer.number($0) }
        switch (value["event"]?.string, number) {
        case ("listening", _): self = .listening
        case ("pairing", _):
            guard let device = DeviceAddress(answer: value) else { return nil }
            self = .pairing(device)
        case ("compare", let number?): self = .ask(.compare(number))
        case ("passkeyWanted", _): self = .ask(.enter)
        case ("passkey", let number?): self = .show(number)
        case ("note", _):
            guard let cause = value.message("cause") else { return nil }
            self = .note(Reason(cause, remedy: value.message("remedy")))
        case ("paired", _):
            guard let bond = BondFacts(value) else { return nil }
            self = .paired(bond)
        case ("failed", _): self = .failed(CommandFailure(answer: value))
        default: return nil
        }
    }
}

extension BondFacts {
    /// Bond in the form reported to programs.
    package var object: JSONObject {
        var object = JSONObject()
        object.add(device)
        object.add("adapter", "\(adapter)")
        object.add("security", level.word)
        object.add("keySize", keySize)
        object.add("secureConnections", isSecureConnections)
        object.add("resolvingKey", hasResolvingKey)
        return object
    }

    init?(_ value: JSONValue) {
        guard let device = DeviceAddress(answer: value),
            let adapter = value["adapter"]?.string.flatMap(BluetoothAddress.init),
            let level = value["security"]?.string.flatMap({ GATTLinkSecurity.Level(word: $0) }),
            let keySize = value["keySize"]?.integer.flatMap({ UInt8(exactly: $0) }),
            let isSecureConnections = value["secureConnections"]?.bool,
            let hasResolvingKey = value["resolvingKey"]?.bool
        else { return nil }
        self.init(
            device: device,
            adapter: adapter,
            level: level,
            keySize: keySize,
            isSecureConnections: isSecureConnections,
            hasResolvingKey: hasResolvingKey
        )
    }
}

extension PairingAnswer {
    /// Answer as a line sent by the client, without its line feed.
    package var line: String {
        switch self {
        case .same(true): "yes"
        case .same(false), .passkey(nil): "no"
        case .passkey(let number?): Self.digits(number)
        }
    }

    /// Parses a client's line as the answer to a question; throws an error if no question is pending.
    package init(line: [UInt8], to question: ManagedPairing.Question?) throws(ControlFault) {
        var words = RequestScanner(try ControlLine.words(line))
        let word = try words.text("an answer is missing")
        guard let question else { throw words.fault("nothing is asked now") }
        switch question {
        case .compare:
            guard word == "yes" || word == "no" else { throw words.fault("yes or no belongs here") }
            self = .same(word == "yes")
        case .enter:
            let number = Self.number(word)
            guard word == "no" || number != nil else { throw words.fault("six digits belong here, or no") }
            self = .passkey(number)
        }
        guard words.isAtEnd else { throw words.tooMany }
    }
}
