// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

@Suite struct HCICommandQueueTests {
    @Test("Commands go out in order, the next one when the last was answered")
    func order() throws {
        var queue = HCICommandQueue()
        let commands: [HCICommand] = [.readLocalVersionInformation, .readLocalSupportedCommands, .reset]
        for command in commands { #expect(queue.enqueue(command) == true) }
        for command in commands {
            #expect(queue.nextCommand(now: .zero) == command)
            #expect(queue.nextCommand(now: .zero) == nil)
            #expect(queue.outstandingOpcode == command.opcode)
            let outcome = try queue.feed(ScanEvents.complete(command.opcode))
            #expect(outcome == .completed(command.opcode, returnParameters: [0]))
        }
        #expect(queue.nextCommand(now: .zero) == nil)
        #expect(queue.deadline == nil)
    }

    @Test("A refusal names the command and the status, from either event")
    func refusals() throws {
        var queue = HCICommandQueue()
        for _ in 0..<4 { #expect(queue.enqueue(.reset) == true) }
        _ = queue.nextCommand(now: .zero)
        #expect(try queue.feed(ScanEvents.complete(.reset, .commandDisallowed)) == .failed(.reset, .commandDisallowed))
        _ = queue.nextCommand(now: .zero)
        #expect(try queue.feed(ScanEvents.status(.reset, .unknownHCICommand)) == .failed(.reset, .unknownHCICommand))
        _ = queue.nextCommand(now: .zero)
        #expect(try queue.feed(ScanEvents.status(.reset, .success)) == .completed(.reset, returnParameters: []))
        _ = queue.nextCommand(now: .zero)
        let bare: [UInt8] = [0x04, 0x0E, 0x03, 0x01, 0x03, 0x0C]
        #expect(try queue.feed(bare) == .failed(.reset, .unspecifiedError))
    }

    @Test("The answers to the kernel's own commands are ignored, but the number of commands they allow is noted")
    func foreignAnswers() throws {
        var queue = HCICommandQueue()
        #expect(queue.enqueue(.reset) == true)
        #expect(try queue.feed(ScanEvents.complete(.leSetScanEnable, packets: 0)) == nil)
        #expect(queue.nextCommand(now: .zero) == nil)
        #expect(queue.deadline == .seconds(2))
        #expect(try queue.feed(ScanEvents.complete(.none, packets: 1)) == nil)
        #expect(queue.nextCommand(now: .zero) == .reset)
        #expect(try queue.feed(ScanEvents.complete(.leSetScanEnable)) == nil)
        #expect(try queue.feed(ScanEvents.status(.disconnect, .success)) == nil)
        #expect(queue.outstandingOpcode == .reset)
    }

    @Test("A lost permission does not stop the queue for ever: after two seconds it asks")
    func lostCredit() throws {
        var queue = HCICommandQueue()
        _ = try queue.feed(ScanEvents.complete(.disconnect, packets: 0))
        #expect(queue.enqueue(.reset) == true)
        #expect(queue.nextCommand(now: .milliseconds(1999)) == nil)
        #expect(queue.nextCommand(now: .seconds(2)) == .reset)
    }

    @Test(
        "A command that is not answered within two seconds, Reset within one and a half, is given up, and the next one goes",
        arguments: [(HCICommand.readBDADDR, 2000), (.reset, 1500)]
    )
    func timeOut(_ command: HCICommand, _ milliseconds: Int) throws {
        let end = Duration.milliseconds(10_000 + milliseconds)
        var queue = HCICommandQueue()
        #expect(queue.enqueue(command) == true)
        #expect(queue.enqueue(.readLocalSupportedCommands) == true)
        #expect(queue.nextCommand(now: .seconds(10)) == command)
        #expect(queue.deadline == end)
        #expect(queue.expire(now: end - .milliseconds(1)) == nil)
        #expect(queue.expire(now: end) == .timedOut(command.opcode))
        #expect(queue.nextCommand(now: end) == .readLocalSupportedCommands)
        #expect(try queue.feed(ScanEvents.complete(command.opcode)) == nil)
    }

    @Test("The queue never grows beyond its bound")
    func bounded() {
        var queue = HCICommandQueue()
        for index in 0..<100 { #expect(queue.enqueue(.reset) == (index < HCICommandQueue.capacity)) }
        #expect(queue.waitingCount == HCICommandQueue.capacity)
        queue.removeWaiting()
        #expect(queue.waitingCount == 0)
    }
}

extension HCICommandQueue {
    fileprivate mutating func feed(_ event: [UInt8]) throws -> Outcome? {
        let event = try HCIEvent(event.span)
        return handle(event, now: .zero)
    }
}
