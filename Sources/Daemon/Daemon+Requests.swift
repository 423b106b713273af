// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
package import Control
package import Devices
import Keystrokes
import LinuxIO
import SystemPackage
package import Texts
import Typing

// Handling of client requests (D-9).

extension Daemon {
    /// Scan time for a device that is selected by name or address.
    private static let useTime = Duration.seconds(8)
    /// Maximum time for which `clear` waits for bytes and keys that are yet to be typed, and its polling interval.
    private static let clearTime = Duration.seconds(1)
    private static let clearInterval = Duration.milliseconds(5)

    package func handle(_ request: ControlRequest, reply: @escaping (Result<JSONObject, CommandFailure>) -> Void) {
        switch request {
        case .status: reply(.success(status.object))
        case .scan(let time, let isAnew): scan(time, isAnew: isAnew, reply)
        case .use(let choice, let confirmed, let asked):
            use(choice, confirmed: confirmed, service.security(asked: asked), reply)
        case .received:
            var object = JSONObject()
            object.add("hex", lastValue.ask())
            reply(.success(object))
        case .forget: reply(result { () throws(CommandFailure) in try forget() })
        case .connect: reply(result { () throws(CommandFailure) in try connect() })
        case .disconnect: reply(result { () throws(CommandFailure) in try disconnect() })
        case .pause: reply(result { gate.isPaused = true })
        case .resume: reply(result { gate.isPaused = false })
        case .beacons(let request): beacons.handle(request, reply: reply)
        case .reload: reply(result { () throws(CommandFailure) in try reload() })
        case .stop:
            reply(.success(JSONObject()))
            // The delay allows the answer to be sent first.
            _ = loop.schedule(at: MonotonicClock.now + .milliseconds(20)) { [weak self] in self?.onStopAsked?() }
        // The server answers these requests itself.
        case .events, .pair: reply(.success(JSONObject()))
        case .key(let keys):
            reply(
                result { () throws(CommandFailure) in
                    try press { keypad throws(TypingError) in try keypad.sequence(of: keys) }
                }
            )
        case .snippet(let title):
            reply(
                result { () throws(CommandFailure) in
                    try press { keypad throws(TypingError) in try keypad.sequence(ofSnippet: title) }
                }
            )
        case .clear: clear(until: MonotonicClock.now + Self.clearTime, reply)
        case .value: reply(result { () throws(CommandFailure) in try service.device.typeValue() })
        case .send(let bytes): reply(result { () throws(CommandFailure) in try service.device.send(bytes) })
        case .ask(let command):
            service.device.ask(command) { result in
                reply(
                    result.map { bytes in
                        var object = JSONObject()
                        object.add("reply", Hexadecimal.text(bytes))
                        return object
                    }
                )
            }
        }
    }

    package func conversation(for request: PairingRequest) throws(CommandFailure) -> any ControlConversation {
        let pairer = try service.pair(request, keepingIn: bonds, choice.store)
        if options.followsChoice { pairer.onRaised = { [unowned self] kept in choose(kept) } }
        return PairingConversation(pairer)
    }

    private func result(_ body: () throws(CommandFailure) -> Void) -> Result<JSONObject, CommandFailure> {
        do throws(CommandFailure) {
            try body()
            return .success(JSONObject())
        } catch {
            return .failure(error)
        }
    }

    // MARK: Selected device

    private func use(
        _ asked: DeviceSelector,
        confirmed: Bool,
        _ security: SecurityPolicy,
        _ reply: @escaping (Result<JSONObject, CommandFailure>) -> Void
    ) {
        if let refusal = refusalOfChange { return reply(.failure(refusal)) }
        let choice: DeviceSelector
        do throws(CommandFailure) {
            choice = try reporting(bonds.read).pairedChoice(asked).map { .kept($0) } ?? asked
        } catch {
            return reply(.failure(error))
        }
        if let kept = service.device.choice?.kept {
            if choice.means(kept) { return reply(keep(kept, isKeyboard: service.device.isKeyboard, security)) }
            if !confirmed { return reply(.failure(.chosenAlready(kept))) }
        }
        if let found = awaitsWord.take(asked, now: MonotonicClock.now) {
            let (device, heard) = (found.device, found.isFresh ? found.device.heard : nil)
            return reply(keep(device.kept, isKeyboard: device.isKeyboard, security, heard: heard))
        }
        service.find(choice, for: Self.useTime) { [weak self] result in
            guard let self else { return }
            let kept = result.flatMap { found in
                self.keep(found.kept, isKeyboard: found.isKeyboard, security, heard: found.heard)
            }
            if case .success(let found) = result, case .failure(let failure) = kept, failure.kind == .openDevice {
                awaitsWord = AwaitedWord(asked, found, now: MonotonicClock.now)
            }
            reply(kept)
        }
    }

    /// Saves and selects a device: a paired one with its keys, or an unpaired one that the user has accepted.
    private func keep(
        _ kept: SelectedDevice,
        isKeyboard: Bool,
        _ security: SecurityPolicy,
        heard: DeviceAddress? = nil
    ) -> Result<JSONObject, CommandFailure> {
        let choice: SelectedDevice
        let unkept: Message?
        do throws(CommandFailure) {
            let claim = try reporting(bonds.read).claim(of: kept.device, on: service.adapter?.address)
            choice = try reporting(security.secured, kept, claim, isKeyboard, service.device.choice?.kept)
            unkept = try self.choice.write(choice)
        } catch {
            return .failure(error)
        }
        if service.device.choice == .kept(choice) { service.device.connect() } else { choose(choice, heard: heard) }
        var answer = JSONObject(choice)
        if let unkept {
            answer.add("kept", false)
            answer.add("note", unkept)
            answer.addForms([("note", unkept)])
        }
        return .success(answer)
    }

    private func forget() throws(CommandFailure) {
        if let refusal = refusalOfChange { throw refusal }
        try choice.forget()
        choose(nil)
    }

    private var refusalOfChange: CommandFailure? {
        guard !options.followsChoice else { return nil }
        let device = service.device.choice.map { Message(detail: "\($0)") } ?? PlainText.oneDevice.message()
        return CommandFailure(.usage, ControlFaultText.fixedDevice, device)
    }

    // MARK: Keys

    private func press(_ sequence: (Keypad) throws(TypingError) -> KeySequence) throws(CommandFailure) {
        try service.press(try reporting(sequence, try usableKeypad()))
    }

    /// Empties the field when no bytes or keys are waiting to be typed, because only then is the number of characters
    /// known.
    ///
    /// Bytes that arrive without a gap, or an incomplete barcode, extend the wait at most until `deadline`.
    private func clear(until deadline: Duration, _ reply: @escaping (Result<JSONObject, CommandFailure>) -> Void) {
        let isOver = MonotonicClock.now >= deadline
        let waits = service.keyboard.waitingKeys > 0
        if !isOver, waits || service.counts.bytes.waiting > 0, (try? usableKeypad()) != nil {
            _ = loop.schedule(at: MonotonicClock.now + Self.clearInterval) { [weak self] in
                self?.clear(until: deadline, reply)
            }
            return
        }
        reply(
            result { () throws(CommandFailure) in
                let keypad = try usableKeypad()
                if waits { throw .keysWait }
                try service.press(try reporting(keypad.clearing, service.keyboard.typedCharacters))
            }
        )
    }

    /// Returns the keypad if its keys may be pressed now; otherwise, throws an error.
    private func usableKeypad() throws(CommandFailure) -> Keypad {
        guard let keypad = service.keypad else {
            throw CommandFailure(.unavailable, KeyboardFaultText.noKeysForOthers)
        }
        // A closed gate also blocks keys requested by clients, because they could reach another application.
        if let reason = gate.reason {
            throw CommandFailure(.unavailable, KeyboardFaultText.nothingTypedNow, reason.cause, remedy: reason.remedy)
        }
        return keypad
    }

    // MARK: Link

    private func connect() throws(CommandFailure) {
        try needChoice()
        service.device.connect()
    }

    private func disconnect() throws(CommandFailure) {
        try needChoice()
        service.device.disconnect()
    }

    private func needChoice() throws(CommandFailure) {
        if service.device.choice == nil {
            throw CommandFailure(.unavailable, ControlFaultText.nothingChosen)
        }
    }

    private func scan(
        _ duration: Duration,
        isAnew: Bool,
        _ reply: @escaping (Result<JSONObject, CommandFailure>) -> Void
    ) {
        service.survey(for: duration, isAnew: isAnew) { [weak self] result in
            // Without the bond file, no device is marked as paired.
            let bonds = (try? self?.bonds.read())?.bonds ?? []
            reply(
                result.map { devices in
                    let paired = Set(bonds.map(\.identityAddress))
                    return JSONObject(devices: devices, choice: self?.service.device.choice, paired: paired)
                }
            )
        }
    }

    private func reload() throws(CommandFailure) {
        guard let onReload else {
            throw CommandFailure(.unavailable, ControlFaultText.noConfiguration)
        }
        try onReload()
    }
}

/// Device found for a selection that is refused until the user accepts the device as unpaired.
///
/// It is stored so that the confirmed request needs no second scan.
struct AwaitedWord {
    /// Time limit for the confirmation; after that, another device may use the address that was heard.
    private static let life = Duration.seconds(60)

    private var found: (asked: DeviceSelector, device: FoundDevice, time: Duration)?

    init() {}

    init(_ asked: DeviceSelector, _ device: FoundDevice, now: Duration) {
        found = (asked, device, now)
    }

    /// Returns the device recently found for the same selection, and forgets it.
    ///
    /// `isFresh` is true if the device may still be advertising.
    mutating func take(_ asked: DeviceSelector, now: Duration) -> (device: FoundDevice, isFresh: Bool)? {
        defer { found = nil }
        guard let found, found.asked == asked, now - found.time < Self.life else { return nil }
        return (found.device, now - found.time < Session.closingTimeout)
    }
}
