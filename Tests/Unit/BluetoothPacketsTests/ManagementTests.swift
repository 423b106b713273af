// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing

private func hex(_ value: some UnsignedInteger & FixedWidthInteger) -> String {
    Hexadecimal.text(UInt64(value), digits: value.bitWidth / 4)
}

private func describe(_ packet: [UInt8]) throws(DecodingError) -> String {
    let event = try ManagementEvent(packet.span)
    let index = event.index.rawValue
    func text(_ device: ManagementAddress) -> String { "\(device.address)/\(device.type.rawValue)" }
    switch event.kind {
    case .commandComplete(let opcode, let status, let parameters):
        return "commandComplete \(index) opcode=\(hex(opcode.rawValue)) status=\(hex(status.rawValue)) "
            + "return=\(Hexadecimal.text(parameters))"
    case .commandStatus(let opcode, let status):
        return "commandStatus \(index) opcode=\(hex(opcode.rawValue)) status=\(hex(status.rawValue))"
    case .controllerError(let code): return "controllerError \(index) code=\(hex(code))"
    case .indexAdded: return "indexAdded \(index)"
    case .indexRemoved: return "indexRemoved \(index)"
    case .newSettings(let settings): return "newSettings \(index) settings=\(hex(settings.rawValue))"
    case .newLongTermKey(let key, let isToBeKept):
        return "newLongTermKey \(index) \(text(key.device)) kept=\(isToBeKept) kind=\(key.kind) "
            + "central=\(key.isCentral) size=\(key.size) ediv=\(hex(key.encryptedDiversifier)) rand=\(hex(key.random)) "
            + "value=\(Hexadecimal.text(key.value))"
    case .userConfirmationRequest(let device, let isPlain, let number):
        return "userConfirmationRequest \(index) \(text(device)) plain=\(isPlain) number=\(number)"
    case .userPasskeyRequest(let device): return "userPasskeyRequest \(index) \(text(device))"
    case .authenticationFailed(let device, let status):
        return "authenticationFailed \(index) \(text(device)) status=\(hex(status.rawValue))"
    case .deviceUnpaired(let device): return "deviceUnpaired \(index) \(text(device))"
    case .passkeyNotify(let device, let passkey, let entered):
        return "passkeyNotify \(index) \(text(device)) passkey=\(passkey) entered=\(entered)"
    case .newIdentityResolvingKey(let key, let resolved, let isToBeKept):
        return "newIdentityResolvingKey \(index) \(text(key.device)) kept=\(isToBeKept) resolved=\(resolved) "
            + "value=\(Hexadecimal.text(key.value))"
    case .deviceConnected(let device, let flags, let data):
        return "deviceConnected \(index) \(text(device)) flags=\(hex(flags)) data=\(Hexadecimal.text(data))"
    case .deviceDisconnected(let device, let reason):
        return "deviceDisconnected \(index) \(text(device)) reason=\(reason.rawValue)"
    case .connectFailed(let device, let status):
        return "connectFailed \(index) \(text(device)) status=\(hex(status.rawValue))"
    case .discovering(let types, let isOn): return "discovering \(index) types=\(hex(types.rawValue)) on=\(isOn)"
    case .newConnectionParameters(let device, let parameters, let isToBeKept):
        return "newConnectionParameters \(index) \(text(device)) kept=\(isToBeKept) min=\(parameters.minimumInterval) "
            + "max=\(parameters.maximumInterval) latency=\(parameters.latency) timeout=\(parameters.supervisionTimeout)"
    case .controllerSuspended(let state): return "controllerSuspended \(index) state=\(state)"
    case .controllerResumed(let reason, let device):
        return "controllerResumed \(index) reason=\(reason) \(text(device))"
    case .other(let code, let parameters):
        return "other \(index) code=\(hex(code)) parameters=\(Hexadecimal.text(parameters))"
    }
}

@Suite struct ManagementTests {
    static let vectors = HCIVector.load("management.txt")

    @Test("Every field of a management event is read", arguments: vectors)
    func reads(_ vector: HCIVector) throws {
        #expect(try [describe(vector.bytes)] == vector.expected)
    }

    @Test("T16: a management event cut at any byte, or with a byte too many, is refused", arguments: vectors)
    func refuses(_ vector: HCIVector) {
        for length in 0..<vector.bytes.count {
            #expect(throws: DecodingError.self) { try describe(Array(vector.bytes[..<length])) }
        }
        #expect(throws: DecodingError.self) { try describe(vector.bytes + [0]) }
        let isOpen = vector.bytes[0] == 0x01 || vector.bytes[0] == 0x08
        guard !isOpen else { return }
        for length in 6...(vector.bytes.count + 1) where length != vector.bytes.count {
            var packet = Array((vector.bytes + [0])[..<length])
            packet[4] = UInt8(length - 6)
            #expect(throws: DecodingError.self) { try describe(packet) }
        }
    }

    @Test("The bytes of management commands")
    func commands() {
        let hci1 = ControllerIndex(rawValue: 1)
        let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
        let expected: [(ManagementCommand, String)] = [
            (.readSupportedCommands, "0200FFFF0000"),
            (.readIndexList, "0300FFFF0000"),
            (.readControllerInformation(hci1), "040001000000"),
            (.setPowered(hci1, true), "05000100010001"),
            (.setPowered(hci1, false), "05000100010000"),
            (.setLowEnergy(hci1, true), "0D000100010001"),
            (.disconnect(hci1, ManagementAddress(device)), "140001000700F5F4F3F2F1F002"),
            (.getConnections(hci1), "150001000000"),
            (.getConnectionInformation(hci1, ManagementAddress(device)), "310001000700F5F4F3F2F1F002"),
            (.stopDiscovery(hci1, types: []), "24000100010000"),
            (.stopDiscovery(hci1, types: [.lePublic, .leRandom]), "24000100010006"),
            (
                .loadConnectionParameters(hci1, ManagementAddress(device), .standard),
                "3500010011000100F5F4F3F2F1F0020C00180000009001"
            ),
        ]
        for (command, bytes) in expected { #expect(Hexadecimal.text(command.encoded) == bytes) }
        #expect(ManagementAddress(device).device == device)
        #expect(ManagementAddress(device.address, .classic).device == nil)
    }

    @Test("The commands and events that a kernel says it has are read, whole or as far as who asks may ask for them")
    func supported() throws {
        let returned: [UInt8] = [3, 0, 2, 0, 0x03, 0, 0x05, 0, 0x35, 0, 0x13, 0, 0x2E, 0]
        let whole = try SupportedManagement(returnParameters: returned.span)
        #expect(whole.commands == [.readIndexList, .setPowered, .loadConnectionParameters])
        #expect(whole.events == [0x13, SupportedManagement.controllerResume] && whole.isWhole)
        let part: [UInt8] = [1, 0, 0, 0, 0x03, 0]
        #expect(try !SupportedManagement(returnParameters: part.span).isWhole)
        for length in 0..<returned.count {
            #expect(throws: DecodingError.self) {
                try SupportedManagement(returnParameters: Array(returned[..<length]).span)
            }
        }
        #expect(throws: DecodingError.self) { try SupportedManagement(returnParameters: (returned + [0]).span) }
    }

    @Test("The bytes of the commands for pairing, and what they return")
    func pairingCommands() throws {
        let hci1 = ControllerIndex(rawValue: 1)
        let device = ManagementAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .leRandom)
        let value = (0...15).map { UInt8($0) }
        let key = ManagementLongTermKey(
            device: device,
            kind: .authenticatedSecureConnections,
            isCentral: true,
            size: 16,
            encryptedDiversifier: 0x1234,
            random: 0x0102_0304_0506_0708,
            value: value
        )
        let bytes = "000102030405060708090A0B0C0D0E0F"
        let one = "F5F4F3F2F1F00203011034120807060504030201" + bytes
        let expected: [(ManagementCommand, String)] = [
            (.setBondable(hci1, true), "09000100010001"),
            (.setSecureSimplePairing(hci1, true), "0B000100010001"),
            (.setSecureConnections(hci1, true), "2D000100010001"),
            (.setSecureConnections(hci1, false), "2D000100010000"),
            (.setIOCapability(hci1, .keyboardDisplay), "18000100010004"),
            (.loadLongTermKeys(hci1, []), "1300010002000000"),
            (.loadLongTermKeys(hci1, [key, key]), "130001004A000200" + one + one),
            (.loadIdentityResolvingKeys(hci1, []), "3000010002000000"),
            (
                .loadIdentityResolvingKeys(hci1, [ManagementResolvingKey(device: device, value: value)]),
                "3000010019000100F5F4F3F2F1F002" + bytes
            ),
            (.pairDevice(hci1, device, .noInputNoOutput), "190001000800F5F4F3F2F1F00203"),
            (.cancelPairDevice(hci1, device), "1A0001000700F5F4F3F2F1F002"),
            (.unpairDevice(hci1, device, disconnects: true), "1B0001000800F5F4F3F2F1F00201"),
            (.userConfirmationReply(hci1, device, accepts: true), "1C0001000700F5F4F3F2F1F002"),
            (.userConfirmationReply(hci1, device, accepts: false), "1D0001000700F5F4F3F2F1F002"),
            (.userPasskeyReply(hci1, device, 123_456), "1E0001000B00F5F4F3F2F1F00240E20100"),
            (.userPasskeyReply(hci1, device, nil), "1F0001000700F5F4F3F2F1F002"),
        ]
        for (command, bytes) in expected { #expect(Hexadecimal.text(command.encoded) == bytes) }
        let returned: [UInt8] = [0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 2]
        #expect(try ManagementReturn.device(returned.span) == device)
        for length in 0..<returned.count {
            #expect(throws: DecodingError.self) { try ManagementReturn.device(Array(returned[..<length]).span) }
        }
        #expect(throws: DecodingError.self) { try ManagementReturn.device((returned + [0]).span) }
    }

    @Test("T16: an event about pairing with a value that the protocol has not is refused")
    func impossiblePairingEvents() throws {
        /// Bytes of the packet with a limited range, and the first value that is invalid.
        let limits: [UInt8: [(at: Int, first: UInt8)]] = [
            0x0A: [(6, 2), (14, 5), (15, 2), (16, 17)], 0x0F: [(13, 2), (17, 1)], 0x17: [(16, 0x10)], 0x18: [(6, 2)],
        ]
        for vector in Self.vectors {
            for limit in limits[vector.bytes[0]] ?? [] {
                for value in limit.first...0xFF {
                    var packet = vector.bytes
                    packet[limit.at] = value
                    #expect(throws: DecodingError.self) { try describe(packet) }
                }
            }
            guard vector.bytes[0] == 0x0A else { continue }
            for size in UInt8(0)..<7 {
                var packet = vector.bytes
                packet[16] = size
                #expect(throws: DecodingError.self) { try describe(packet) }
            }
        }
    }

    @Test("Controller information is parsed from exactly 280 bytes")
    func controllerInformation() throws {
        var bytes: [UInt8] = [0x06, 0x05, 0x04, 0x03, 0x02, 0x01, 0x0C, 0x02, 0x00]
        bytes += [0xFF, 0xBE, 0x01, 0x00, 0x81, 0x02, 0x00, 0x00, 0x0C, 0x01, 0x1C]
        bytes += Array("kiosk".utf8) + [UInt8](repeating: 0, count: 244) + Array("k".utf8)
        bytes += [UInt8](repeating: 0, count: 10)
        try #require(bytes.count == 280)
        let information = try ControllerInformation(returnParameters: bytes.span)
        #expect("\(information.address)" == "01:02:03:04:05:06")
        #expect(information.version == 12)
        #expect(information.manufacturer == 2)
        #expect(information.supportedSettings.isSuperset(of: [.powered, .lowEnergy, .secureConnections]))
        #expect(information.currentSettings == [.powered, .classic, .lowEnergy])
        #expect(information.deviceClass == 0x1C010C)
        #expect(information.name.text == "kiosk")
        #expect(information.shortName.text == "k")
        for length in 0...300 where length != 280 {
            let wrong = Array((bytes + bytes)[..<length])
            #expect(throws: DecodingError.self) { try ControllerInformation(returnParameters: wrong.span) }
        }
    }

    @Test("Return parameters of commands are rejected at every other length")
    func returns() throws {
        #expect(try ManagementReturn.indexList([2, 0, 0, 0, 5, 0].span).map(\.rawValue) == [0, 5])
        #expect(try ManagementReturn.connections([1, 0, 6, 5, 4, 3, 2, 1, 2].span).first?.device?.type == .random)
        #expect(try ManagementReturn.settings([1, 2, 0, 0].span) == [.powered, .lowEnergy])
        let quality: [UInt8] = [6, 5, 4, 3, 2, 1, 2, 0xC4, 4, 10]
        let answer = try ManagementReturn.rssi(quality.span)
        #expect(answer.rssi == -60 && answer.device.device?.type == .random)
        #expect(try ManagementReturn.rssi([6, 5, 4, 3, 2, 1, 2, 127, 127, 127].span).rssi == nil)
        for length in 0..<quality.count {
            #expect(throws: DecodingError.self) { try ManagementReturn.rssi(Array(quality[..<length]).span) }
        }
        #expect(throws: DecodingError.self) { try ManagementReturn.rssi((quality + [0]).span) }
        let lying: [UInt8] = [0xFF, 0xFF, 0, 0]
        #expect(throws: DecodingError.self) { try ManagementReturn.indexList(lying.span) }
        #expect(throws: DecodingError.self) { try ManagementReturn.connections(lying.span) }
        for length in 0...8 {
            let bytes = [UInt8](repeating: 1, count: length)
            if length != 4 { #expect(throws: DecodingError.self) { try ManagementReturn.settings(bytes.span) } }
            #expect(throws: DecodingError.self) { try ManagementReturn.indexList(bytes.span) }
        }
    }

    @Test("A management status has its name")
    func statusNames() {
        #expect("\(ManagementStatus.rfkilled)" == "RFKilled (0x12)")
        #expect("\(ManagementStatus.permissionDenied)" == "Permission Denied (0x14)")
        #expect("\(ManagementStatus.notPowered)" == "Not Powered (0x0F)")
        #expect("\(ManagementStatus(rawValue: 0x80))" == "Unknown Status (0x80)")
        #expect("\(ManagementOpcode.setLowEnergy)" == "Set Low Energy (0x000D)")
    }
}
