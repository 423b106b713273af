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
        case .device(let name, let request): handle(request, of: name, reply)
        case .status: reply(.success(status.object))
        case .scan(let time, let isAnew): scan(time, isAnew: isAnew, reply)
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
        case .received, .use, .forget, .connect, .disconnect, .value, .send, .ask: handle(request, of: nil, reply)
        }
    }

    /// Handles a request for the device with this name; nil means the only device.
    private func handle(
        _ request: ControlRequest,
        of name: String?,
        _ reply: @escaping (Result<JSONObject, CommandFailure>) -> Void
    ) {
        let device: DaemonDevice
        do throws(CommandFailure) {
            device = try self.device(named: name)
        } catch {
            return reply(.failure(error))
        }
        let session = device.session
        switch request {
        case .use(let choice, let confirmed, let asked):
            use(choice, as: device, confirmed: confirmed, device.service.security(asked: asked), reply)
        case .received:
            var object = JSONObject()
            object.add("hex", device.lastValue.ask())
            reply(.success(object))
        case .forget: reply(result { () throws(CommandFailure) in try forget(device) })
        case .connect:
            reply(result { () throws(CommandFailure) in try chosen(device).connect() })
        case .disconnect:
            reply(result { () throws(CommandFailure) in try chosen(device).disconnect() })
        case .value: reply(result { () throws(CommandFailure) in try session.typeValue() })
        case .send(let bytes): reply(result { () throws(CommandFailure) in try session.send(bytes) })
        case .ask(let command):
            session.ask(command) { result in
                reply(
                    result.map { bytes in
                        var object = JSONObject()
                        object.add("reply", Hexadecimal.text(bytes))
                        return object
                    }
                )
            }
        case .status, .scan, .pause, .resume, .beacons, .reload, .stop, .events, .pair, .key, .snippet, .clear, .device:
            reply(.failure(CommandFailure(.usage, ControlFaultText.faultyRequest, request.line)))
        }
    }

    /// Returns the device with this name or, without a name, the only device.
    private func device(named name: String?) throws(CommandFailure) -> DaemonDevice {
        let names = devices.compactMap(\.name).joined(separator: ", ")
        guard let name else {
            if devices.count == 1 { return devices[0] }
            throw CommandFailure(.usage, ControlFaultText.deviceWanted, names)
        }
        if let device = devices.first(where: { $0.name == name }) { return device }
        throw CommandFailure(.usage, ControlFaultText.unknownDevice, name, names)
    }

    package func conversation(for request: PairingRequest) throws(CommandFailure) -> any ControlConversation {
        let followers = devices.filter(\.followsChoice)
        let pairer = try service.pair(request, keepingIn: bonds, devices.map(\.choice.store))
        pairer.onRaised = { store, kept in followers.first { $0.choice.store.path == store.path }?.choose(kept) }
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
        as device: DaemonDevice,
        confirmed: Bool,
        _ security: SecurityPolicy,
        _ reply: @escaping (Result<JSONObject, CommandFailure>) -> Void
    ) {
        if let refusal = device.refusalOfChange { return reply(.failure(refusal)) }
        let choice: DeviceSelector
        do throws(CommandFailure) {
            choice = try reporting(bonds.read).pairedChoice(asked).map { .kept($0) } ?? asked
        } catch {
            return reply(.failure(error))
        }
        if let refusal = refusal(of: asked, as: device, where: { $0 == choice || $0.kept.map(choice.means) == true }) {
            return reply(.failure(refusal))
        }
        if let kept = device.session.choice?.kept {
            if choice.means(kept) {
                return reply(keep(kept, as: device, isKeyboard: device.session.isKeyboard, security))
            }
            if !confirmed { return reply(.failure(.chosenAlready(kept))) }
        }
        if let (found, isFresh) = device.awaitsWord.take(asked, now: MonotonicClock.now) {
            let heard = isFresh ? found.heard : nil
            return reply(keep(found.kept, as: device, isKeyboard: found.isKeyboard, security, heard: heard))
        }
        service.find(choice, for: Self.useTime) { [weak self] result in
            guard let self else { return }
            let kept = result.flatMap { found in
                self.keep(found.kept, as: device, isKeyboard: found.isKeyboard, security, heard: found.heard)
            }
            if case .success(let found) = result, case .failure(let failure) = kept, failure.kind == .openDevice {
                device.awaitsWord = AwaitedWord(asked, found, now: MonotonicClock.now)
            }
            reply(kept)
        }
    }

    /// Returns the failure if another device of the configuration has a selection for which `isSame` returns true.
    private func refusal(
        of asked: DeviceSelector,
        as device: DaemonDevice,
        where isSame: (DeviceSelector) -> Bool
    ) -> CommandFailure? {
        let other = devices.first { $0 !== device && $0.session.choice.map(isSame) == true }
        return other.map { CommandFailure(.usage, ControlFaultText.usedByOther, "\(asked)", $0.name ?? "") }
    }

    /// Saves and selects a device: a paired one with its keys, or an unpaired one that the user has accepted.
    private func keep(
        _ kept: SelectedDevice,
        as device: DaemonDevice,
        isKeyboard: Bool,
        _ security: SecurityPolicy,
        heard: DeviceAddress? = nil
    ) -> Result<JSONObject, CommandFailure> {
        // A device selected by its name has been identified by its address only now.
        for other in devices where other !== device && other.has(kept.device) {
            return .failure(CommandFailure(.usage, ControlFaultText.usedByOther, kept.label, other.name ?? ""))
        }
        let choice: SelectedDevice
        let unkept: Message?
        do throws(CommandFailure) {
            let claim = try reporting(bonds.read).claim(of: kept.device, on: service.adapter?.address)
            choice = try reporting(security.secured, kept, claim, isKeyboard, device.session.choice?.kept)
            unkept = try device.choice.write(choice)
        } catch {
            return .failure(error)
        }
        if device.session.choice == .kept(choice) {
            device.session.connect()
        } else {
            device.choose(choice, heard: heard)
        }
        var answer = JSONObject(choice)
        if let unkept {
            answer.add("kept", false)
            answer.add("note", unkept)
            answer.addForms([("note", unkept)])
        }
        return .success(answer)
    }

    private func forget(_ device: DaemonDevice) throws(CommandFailure) {
        if let refusal = device.refusalOfChange { throw refusal }
        try device.choice.forget()
        device.choose(nil)
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
        if !isOver, waits || service.waitingBytes > 0, (try? usableKeypad()) != nil {
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

    /// Returns the session of a device; throws an error if no device is selected for it.
    private func chosen(_ device: DaemonDevice) throws(CommandFailure) -> DeviceSession {
        guard device.session.choice != nil else {
            throw CommandFailure(.unavailable, ControlFaultText.nothingChosen)
        }
        return device.session
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
