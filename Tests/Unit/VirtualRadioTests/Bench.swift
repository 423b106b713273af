// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import TestSupport
import Testing
import VirtualRadio

/// Two or more controllers on a simulated radio, and the hosts' ends of their transports.
///
/// Bytes are written and compared as hexadecimal digits, optionally with spaces.
final class Bench {
    /// The simulated radio under test.
    let radio: VirtualRadio
    /// The controllers, with the addresses C0:00:00:00:00:01, C0:00:00:00:00:02, and so on.
    let controllers: [VirtualController]

    /// Creates controllers in the state after power-on.
    init(
        _ generations: [VirtualController.Generation],
        seed: UInt64 = 7,
        change: (inout VirtualController.Configuration) -> Void = { _ in }
    ) {
        radio = VirtualRadio(seed: seed)
        let radio = radio
        controllers = generations.enumerated().map { index, generation in
            let address = BluetoothAddress(rawValue: 0xC000_0000_0001 + UInt64(index))
            var configuration = VirtualController.Configuration(address: address, generation: generation)
            change(&configuration)
            return radio.addController(configuration)
        }
    }

    /// Creates two controllers that have been reset and report all events.
    static func pair(
        _ generation: VirtualController.Generation = .extended,
        change: (inout VirtualController.Configuration) -> Void = { _ in }
    ) -> Bench {
        let bench = Bench([generation, generation], change: change)
        for controller in bench.controllers { bench.wantEverything(controller) }
        return bench
    }

    var first: VirtualController { controllers[0] }
    var second: VirtualController { controllers[1] }

    /// Enables all events with Set Event Mask and LE Set Event Mask.
    func wantEverything(_ controller: VirtualController) {
        command(controller, 0x0C01, "FF FF FF FF FF FF FF 3F")
        command(controller, 0x2001, "FF FF FF FF FF FF FF FF")
        _ = packets(controller)
    }

    /// Sends bytes unchanged.
    func send(_ controller: VirtualController, _ hexadecimal: String) {
        controller.receive(VectorFile.bytes(hexadecimal) ?? [], now: radio.now)
    }

    /// Sends a command.
    func command(_ controller: VirtualController, _ opcode: UInt16, _ hexadecimal: String = "") {
        let parameters = VectorFile.bytes(hexadecimal) ?? []
        var writer = ByteWriter()
        writer.write(UInt8(0x01))
        writer.write(opcode)
        writer.write(UInt8(parameters.count))
        writer.write(parameters)
        controller.receive(writer.bytes, now: radio.now)
    }

    /// Sends a command that must succeed; returns the other packets that result from it.
    @discardableResult
    func succeed(
        _ controller: VirtualController,
        _ opcode: UInt16,
        _ hexadecimal: String = "",
        at location: SourceLocation = #_sourceLocation
    ) -> [String] {
        #expect(
            status(controller, opcode, hexadecimal) == 0x00,
            "0x\(String(opcode, radix: 16))",
            sourceLocation: location
        )
        return packets(controller)
    }

    /// Sends a command and returns its status; the following packets remain queued.
    func status(_ controller: VirtualController, _ opcode: UInt16, _ hexadecimal: String = "") -> UInt8? {
        while controller.nextPacket() != nil {}
        command(controller, opcode, hexadecimal)
        guard let answer = controller.nextPacket(), answer.count >= 7 else { return nil }
        return answer[1] == 0x0E ? answer[6] : answer[3]
    }

    /// Returns the queued packets for a host, as digits without spaces.
    func packets(_ controller: VirtualController) -> [String] {
        var result: [String] = []
        while let packet = controller.nextPacket() { result.append(Hexadecimal.text(packet)) }
        return result
    }

    /// Advances the time.
    func run(_ time: Duration) {
        radio.advance(to: radio.now + time)
    }

    /// Returns the device's address as in HCI packets: type and six bytes.
    func address(_ controller: VirtualController) -> String {
        "00 0\(controller.index + 1) 00 00 00 00 C0"
    }

    /// Enables connectable advertising every 20 ms, with the commands of the controller's generation.
    func advertise(_ controller: VirtualController) {
        if controller.configuration.generation == .legacy {
            succeed(controller, 0x2006, "20 00 20 00 00 00 00 000000000000 07 00")
            succeed(controller, 0x200A, "01")
        } else {
            succeed(controller, 0x2036, "00 1300 200000 200000 07 00 00 000000000000 00 7F 01 00 01 00 00")
            succeed(controller, 0x2039, "01 01 00 0000 00")
        }
    }

    /// Connects to a public address: interval 30 ms, no latency, supervision time-out 1 s.
    func connect(_ controller: VirtualController, to peer: String) {
        if controller.configuration.generation == .legacy {
            succeed(controller, 0x200D, "1000 1000 00 \(peer) 00 1800 1800 0000 6400 0000 0000")
        } else {
            succeed(controller, 0x2043, "00 00 \(peer) 01 1000 1000 1800 1800 0000 6400 0000 0000")
        }
    }

    /// Connects the first controller to the second, both with handle 0x0040, and waits until the link is established.
    func link() {
        advertise(second)
        connect(first, to: address(second))
        run(.milliseconds(50))
        for controller in controllers { _ = packets(controller) }
    }
}

/// Removes the spaces, for comparison with received packets.
func hex(_ parts: String...) -> String {
    parts.joined().filter { $0 != " " }
}
