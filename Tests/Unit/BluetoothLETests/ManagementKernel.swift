// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Glibc
import LinuxIO
import TestSupport
import Testing

@testable import BluetoothAdapters

/// Kernel's end of a management socket, which accepts every command except those in `refusals`.
final class ManagementKernel {
    let loop: EventLoop
    let adapter: KernelAdapter
    private let end: Int32
    /// Received commands with their parameters.
    private(set) var commands: [(opcode: ManagementOpcode, parameters: [UInt8])] = []
    /// Error statuses of commands that are rejected.
    var refusals: [ManagementOpcode: ManagementStatus] = [:]
    /// Return parameters of successful commands; those of the others are empty.
    var returned: [ManagementOpcode: [UInt8]] = [:]
    /// Commands that the kernel does not answer.
    var unanswered: Set<ManagementOpcode> = []
    var news: [PairableEvent] = []

    /// Received commands as text: number and parameters, hexadecimal, without spaces.
    var log: [String] {
        commands.map { Hexadecimal.text(UInt64($0.opcode.rawValue), digits: 4) + " " + Hexadecimal.text($0.parameters) }
    }

    /// Creates a powered adapter with this address, least significant byte first.
    init(address: [UInt8] = [0x42, 0, 1, 0xAA, 0, 0]) throws {
        loop = try EventLoop()
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        end = ends[1]
        let channel = try ManagementChannel(
            ManagementSocket(opened: Descriptor(owning: ends[0], .management)),
            on: loop
        )
        // A powered adapter with Low Energy and Secure Connections.
        var bytes: [UInt8] = address + [0x0C, 0x02, 0x00, 0x00, 0x0A, 0, 0, 0x01, 0x02, 0, 0]
        bytes += [UInt8](repeating: 0, count: 280 - bytes.count)
        let information = try ControllerInformation(returnParameters: bytes.span)
        let index = ControllerIndex(rawValue: 0)
        adapter = KernelAdapter(index: index, information: information, management: channel, loop: loop)
    }

    deinit {
        adapter.close()
        close(end)
    }

    /// Answers commands until a condition is met.
    func run(until isDone: () -> Bool) throws {
        let isOver = try loop.run {
            answer()
            return isDone()
        }
        try #require(isOver, "\(commands), \(news)")
    }

    /// Reads and answers all pending commands.
    func answer() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(end, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count >= 6 else { return }
            let opcode = Array(buffer[0..<2])
            let number = UInt16(opcode[0]) | UInt16(opcode[1]) << 8
            commands.append((ManagementOpcode(rawValue: number), Array(buffer[6..<count])))
            let command = ManagementOpcode(rawValue: number)
            if unanswered.contains(command) { continue }
            // Command Status or Command Complete.
            if let refusal = refusals[command] {
                tell(0x02, opcode + [refusal.rawValue])
            } else {
                tell(0x01, opcode + [0] + (returned[command] ?? []))
            }
        }
    }

    /// Answers commands for this time.
    func run(for time: Duration) throws {
        let end = MonotonicClock.now + time
        try run { MonotonicClock.now >= end }
    }

    /// Sends an event of the adapter, or of another controller.
    func tell(_ code: UInt8, _ parameters: [UInt8], index: UInt8 = 0) {
        let packet = [code, 0, index, 0, UInt8(parameters.count), 0] + parameters
        #expect(write(end, packet, packet.count) == packet.count)
    }

    func count(_ opcode: ManagementOpcode) -> Int { commands.count { $0.opcode == opcode } }
}
