// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

@Suite struct ScannerTests {
    static let generations: [Scanner.Generation] = [.legacy, .extended]

    private func opcodes(_ generation: Scanner.Generation) -> (parameters: HCIOpcode, enable: HCIOpcode) {
        generation == .legacy
            ? (.leSetScanParameters, .leSetScanEnable) : (.leSetExtendedScanParameters, .leSetExtendedScanEnable)
    }

    @Test("The generation is that of the commands the controller knows, the extended one if it knows both")
    func generation() {
        let legacy: Set<SupportedCommands.Bit> = [.leSetScanParameters, .leSetScanEnable]
        let extended: Set<SupportedCommands.Bit> = [.leSetExtendedScanParameters, .leSetExtendedScanEnable]
        #expect(Scanner(SupportedCommands(legacy))?.generation == .legacy)
        #expect(Scanner(SupportedCommands(extended))?.generation == .extended)
        #expect(Scanner(SupportedCommands(legacy.union(extended)))?.generation == .extended)
        #expect(Scanner(SupportedCommands(legacy.union([.leSetExtendedScanEnable])))?.generation == .legacy)
        #expect(Scanner(SupportedCommands([.leSetExtendedScanParameters])) == nil)
        #expect(Scanner(SupportedCommands([])) == nil)
    }

    @Test("Off, parameters, on; then off. The off that was off already succeeds", arguments: generations)
    func sequence(_ generation: Scanner.Generation) {
        var scanner = Scanner(generation)
        let (parameters, enable) = opcodes(generation)
        #expect(scanner.state == .idle)
        #expect(scanner.nextCommand(now: .zero) == nil)
        scanner.start(.background)
        #expect(scanner.state == .starting)
        let off = scanner.nextCommand(now: .zero)
        #expect(off?.opcode == enable && off?.parameters.first == 0)
        #expect(scanner.nextCommand(now: .zero) == nil)
        scanner.feed(ScanEvents.complete(enable, .commandDisallowed))
        let set = scanner.nextCommand(now: .zero)
        #expect(
            set
                == (generation == .legacy
                    ? .leSetScanParameters(.background) : .leSetExtendedScanParameters(.background))
        )
        scanner.feed(ScanEvents.complete(parameters))
        let on = scanner.nextCommand(now: .zero)
        #expect(on?.opcode == enable && on?.parameters.first == 1)
        #expect(scanner.state == .starting)
        scanner.feed(ScanEvents.complete(enable))
        #expect(scanner.state == .scanning)
        #expect(scanner.deadline == nil)
        scanner.stop()
        #expect(scanner.state == .stopping)
        #expect(scanner.nextCommand(now: .zero) == off)
        scanner.feed(ScanEvents.complete(enable, .commandDisallowed))
        #expect(scanner.state == .idle)
        scanner.stop()
        #expect(scanner.nextCommand(now: .zero) == nil)
    }

    @Test("A controller that does not know an extended command is scanned by the legacy ones", arguments: 0...2)
    func unknown(_ step: Int) {
        var scanner = Scanner(.extended)
        scanner.start(.discovery)
        for _ in 0..<step {
            guard let command = scanner.nextCommand(now: .zero) else { return }
            scanner.feed(ScanEvents.complete(command.opcode))
        }
        guard let refused = scanner.nextCommand(now: .zero) else { return }
        scanner.feed(ScanEvents.complete(refused.opcode, .unknownHCICommand))
        var opcodes: [HCIOpcode] = []
        while let command = scanner.nextCommand(now: .zero) {
            opcodes.append(command.opcode)
            scanner.feed(ScanEvents.complete(command.opcode))
        }
        #expect(opcodes == [.leSetScanEnable, .leSetScanParameters, .leSetScanEnable])
        #expect(scanner.state == .scanning && scanner.generation == .legacy)
    }

    @Test("A refused command fails the scan with its name and status", arguments: generations)
    func refusals(_ generation: Scanner.Generation) {
        let (parameters, enable) = opcodes(generation)
        let cases: [(refusedAt: Int, HCIOpcode, HCIStatus)] = [
            (0, enable, generation == .legacy ? .unknownHCICommand : .hardwareFailure),
            (1, parameters, .unspecifiedError), (2, enable, .hardwareFailure),
            (2, enable, .invalidHCICommandParameters),
        ]
        for (refusedAt, opcode, status) in cases {
            var scanner = Scanner(generation)
            scanner.start(.discovery)
            for step in 0...refusedAt {
                guard let command = scanner.nextCommand(now: .zero) else { break }
                scanner.feed(ScanEvents.complete(command.opcode, step == refusedAt ? status : .success))
            }
            #expect(scanner.state == .failed(.refused(opcode, status)))
            #expect(scanner.nextCommand(now: .zero) == nil)
            scanner.start(.discovery)
            #expect(scanner.nextCommand(now: .zero)?.parameters.first == 0)
        }
        #expect(
            "\(Scanner.Failure.refused(.leSetScanEnable, .commandDisallowed))"
                == "LE Set Scan Enable (0x200C) was refused: Command Disallowed (0x0C)"
        )
    }

    @Test("Disallowed for a moment: from off on again, after 0.1, 0.2 and 0.4 s", arguments: generations, [1, 2])
    func disallowed(_ generation: Scanner.Generation, _ refusedAt: Int) {
        let (parameters, enable) = opcodes(generation)
        let sequence = [enable, parameters, enable]
        for refusals in 1...4 {
            var scanner = Scanner(generation)
            var now = Duration.zero
            scanner.start(.discovery)
            for refusal in 1...refusals {
                for step in 0...refusedAt {
                    #expect(scanner.nextCommand(now: now)?.opcode == sequence[step])
                    let status: HCIStatus = step == refusedAt ? .commandDisallowed : .success
                    scanner.feed(ScanEvents.complete(sequence[step], status), at: now)
                }
                guard refusal < 4 else { continue }
                #expect(scanner.state == .starting && scanner.nextCommand(now: now) == nil)
                let pause = Duration.milliseconds([100, 200, 400][refusal - 1])
                #expect(scanner.deadline == now + pause)
                scanner.advance(now: now + pause - .milliseconds(1))
                #expect(scanner.nextCommand(now: now) == nil)
                now += pause
                scanner.advance(now: now)
            }
            if refusals == 4 {
                #expect(scanner.state == .failed(.refused(sequence[refusedAt], .commandDisallowed)))
                continue
            }
            var sent: [HCIOpcode] = []
            while let command = scanner.nextCommand(now: now) {
                sent.append(command.opcode)
                scanner.feed(ScanEvents.complete(command.opcode), at: now)
            }
            #expect(sent == sequence && scanner.state == .scanning && scanner.deadline == nil)
        }
    }

    @Test("Stopped in the pause after a refusal, the scan ends at once; a hardware error ends the pause")
    func pausing() {
        for isStopped in [true, false] {
            var scanner = Scanner(.extended)
            scanner.start(.discovery)
            for status in [HCIStatus.success, .commandDisallowed] {
                guard let command = scanner.nextCommand(now: .zero) else { return }
                scanner.feed(ScanEvents.complete(command.opcode, status))
            }
            #expect(scanner.deadline == .milliseconds(100))
            if isStopped { scanner.stop() } else { scanner.feed([0x04, 0x10, 0x01, 0x42]) }
            let last = scanner.nextCommand(now: .zero)
            #expect(last == (isStopped ? .leSetExtendedScanEnable(false, .discovery) : nil))
            if isStopped { scanner.feed(ScanEvents.complete(.leSetExtendedScanEnable)) }
            #expect(scanner.state == (isStopped ? .idle : .failed(.hardwareError(0x42))))
            #expect(scanner.deadline == nil)
            scanner.advance(now: .seconds(1))
            #expect(scanner.nextCommand(now: .seconds(1)) == nil)
        }
    }

    @Test("A command without an answer fails the scan after two seconds; it can be started again")
    func timeOut() {
        var scanner = Scanner(.extended)
        scanner.start(.discovery)
        _ = scanner.nextCommand(now: .seconds(1))
        #expect(scanner.deadline == .seconds(3))
        scanner.advance(now: .milliseconds(2999))
        #expect(scanner.state == .starting)
        scanner.advance(now: .seconds(3))
        #expect(scanner.state == .failed(.noAnswer(.leSetExtendedScanEnable)))
        scanner.start(.discovery)
        while let command = scanner.nextCommand(now: .seconds(4)) { scanner.feed(ScanEvents.complete(command.opcode)) }
        #expect(scanner.state == .scanning)
    }

    @Test("CB-2: starting again with other options replaces the scan, at whatever step it is", arguments: 0...3)
    func replaces(_ step: Int) {
        for sentBefore in [false, true] {
            var scanner = Scanner(.legacy)
            scanner.start(.discovery)
            for _ in 0..<step {
                guard let command = scanner.nextCommand(now: .zero) else { break }
                scanner.feed(ScanEvents.complete(command.opcode))
            }
            let outstanding = sentBefore ? scanner.nextCommand(now: .zero) : nil
            scanner.start(.background)
            if let outstanding {
                #expect(scanner.nextCommand(now: .zero) == nil)
                // The result of the replaced scan's command does not affect the new scan.
                scanner.feed(ScanEvents.complete(outstanding.opcode, .invalidHCICommandParameters))
            }
            var sent: [HCICommand] = []
            while let command = scanner.nextCommand(now: .zero) {
                sent.append(command)
                #expect(scanner.state == .starting)
                scanner.feed(ScanEvents.complete(command.opcode))
            }
            #expect(
                sent == [
                    .leSetScanEnable(false, filtersDuplicates: false), .leSetScanParameters(.background),
                    .leSetScanEnable(true, filtersDuplicates: false),
                ]
            )
            #expect(scanner.state == .scanning)
        }
    }

    @Test("Stopped at whatever step, the last command leaves the controller not scanning", arguments: 0...3)
    func stops(_ step: Int) {
        for sentBefore in [false, true] {
            var scanner = Scanner(.extended)
            scanner.start(.discovery)
            for _ in 0..<step {
                guard let command = scanner.nextCommand(now: .zero) else { break }
                scanner.feed(ScanEvents.complete(command.opcode))
            }
            let outstanding = sentBefore ? scanner.nextCommand(now: .zero) : nil
            scanner.stop()
            if let outstanding { scanner.feed(ScanEvents.complete(outstanding.opcode, .unspecifiedError)) }
            #expect(scanner.state == .stopping)
            let last = scanner.nextCommand(now: .zero)
            #expect(last == .leSetExtendedScanEnable(false, .discovery))
            scanner.feed(ScanEvents.complete(.leSetExtendedScanEnable))
            #expect(scanner.state == .idle)
            #expect(scanner.nextCommand(now: .zero) == nil)
        }
    }

    @Test("A hardware error fails the scan, also with a command on its way, and it can be started again")
    func hardwareError() {
        for isOutstanding in [false, true] {
            var scanner = Scanner(.legacy)
            scanner.start(.discovery)
            if isOutstanding { _ = scanner.nextCommand(now: .zero) }
            scanner.feed([0x04, 0x10, 0x01, 0x42])
            #expect(scanner.state == .failed(.hardwareError(0x42)))
            scanner.start(.discovery)
            if isOutstanding { scanner.feed(ScanEvents.complete(.leSetScanEnable)) }
            while let command = scanner.nextCommand(now: .zero) { scanner.feed(ScanEvents.complete(command.opcode)) }
            #expect(scanner.state == .scanning)
        }
    }

    @Test("The kernel's scan commands are seen and counted; reports of its scans are not ours")
    func foreign() {
        var scanner = Scanner.scanning(.extended)
        scanner.feed(ScanEvents.complete(.leSetExtendedScanEnable))
        scanner.feed(ScanEvents.complete(.disconnect))
        #expect(scanner.foreignCommands == 1)
        #expect(scanner.state == .scanning)
        var idle = Scanner(.extended)
        #expect(idle.feed(ScanEvents.extended(1, ScanEvents.name("A"))).isEmpty)
        #expect(idle.devices.counters.reports == 0)
    }

    @Test("A scan that the kernel has ended needs no command for its end, and can begin again", arguments: generations)
    func endedByTheKernel(_ generation: Scanner.Generation) {
        var scanner = Scanner.scanning(generation)
        scanner.noteStop()
        #expect(scanner.state == .idle)
        scanner.stop()
        #expect(scanner.nextCommand(now: .zero) == nil)
        scanner.start(.discovery)
        scanner.noteStop()
        #expect(scanner.state == .starting)
        while let command = scanner.nextCommand(now: .zero) { scanner.feed(ScanEvents.complete(command.opcode)) }
        #expect(scanner.state == .scanning)
    }

    @Test("A scan with a duration ends with its event")
    func duration() {
        var scanner = Scanner.scanning(.extended)
        scanner.feed([0x04, 0x3E, 0x01, 0x11])
        #expect(scanner.state == .idle)
    }

    @Test("T16: a bad event is counted, named, and none of its reports used", arguments: generations)
    func badEvents(_ generation: Scanner.Generation) {
        var scanner = Scanner.scanning(generation)
        let event =
            generation == .legacy
            ? ScanEvents.legacy(1, ScanEvents.name("A")) : ScanEvents.extended(1, ScanEvents.name("A"))
        for length in 0..<event.count { #expect(scanner.feed(Array(event[..<length])).isEmpty) }
        #expect(scanner.devices.counters.badEvents == UInt64(event.count))
        #expect(scanner.devices.counters.reports == 0)
        #expect(scanner.lastFault != nil)
        var two = event
        two[4] = 2
        #expect(scanner.feed(two).isEmpty)
        #expect(scanner.feed(event).count == 1)
    }
}
