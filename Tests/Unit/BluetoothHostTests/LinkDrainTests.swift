// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing

@testable import BluetoothHost

/// Disconnections while data are queued.
@Suite struct LinkDrainTests {
    private func ending(_ buffers: DataBuffers, frames: Int) -> ModelController {
        var controller = LowEnergyHostTests.connected(buffers: buffers)
        for number in 0..<frames {
            let isTaken = controller.host.send([UInt8(number)], on: 0x40)
            #expect(isTaken)
        }
        controller.host.disconnect(0x40, now: controller.now)
        controller.pump()
        return controller
    }

    @Test("Queued packets are sent before a disconnect, which waits until the controller has sent them")
    func drains() {
        var controller = ending(DataBuffers(dataLength: 27, packetCount: 2), frames: 3)
        #expect(controller.data.map(\.last) == [0, 1] && controller.commands.isEmpty)
        // No new data are accepted.
        let isTaken = controller.host.send([9], on: 0x40)
        #expect(!isTaken)
        controller.complete(0x40, 2)
        #expect(controller.data.map(\.last) == [0, 1, 2] && controller.commands.isEmpty)
        controller.complete(0x40, 1)
        #expect(LowEnergyHostTests.opcodes(controller.commands) == [.disconnect])
        controller.disconnect(0x40)
        #expect(controller.host.connections.isEmpty && controller.host.freeBufferCount == 2)
    }

    @Test("A peer that takes nothing holds the end up for two seconds at most, and without data it comes at once")
    func bounded() {
        var controller = ending(DataBuffers(dataLength: 27, packetCount: 1), frames: 3)
        controller.advance(to: LowEnergyHost.drainTime - .milliseconds(1))
        #expect(controller.commands.isEmpty && controller.data.count == 1)
        controller.advance(to: LowEnergyHost.drainTime)
        #expect(LowEnergyHostTests.opcodes(controller.commands) == [.disconnect])
        controller.complete(0x40, 1)
        #expect(controller.data.count == 1 && controller.commands.count == 1)
        let idle = ending(DataBuffers(dataLength: 27, packetCount: 1), frames: 0)
        #expect(LowEnergyHostTests.opcodes(idle.commands) == [.disconnect])
    }

    @Test("A connection that ends by itself meanwhile is not ended again")
    func endsByItself() {
        var controller = ending(DataBuffers(dataLength: 27, packetCount: 1), frames: 3)
        controller.disconnect(0x40, reason: 0x08)
        controller.advance(to: .seconds(10))
        #expect(controller.commands.isEmpty && controller.host.failure == nil)
    }
}
