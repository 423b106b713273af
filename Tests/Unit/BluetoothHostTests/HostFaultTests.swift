// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing
import VirtualRadio

@Suite struct HostFaultTests {
    private static let common: [HCIOpcode] = [
        .reset, .readLocalSupportedCommands, .readLocalSupportedFeatures, .readBDADDR, .leReadBufferSize,
        .leReadLocalSupportedFeatures, .setEventMask, .leSetEventMask, .disconnect,
    ]
    private static let legacy: [HCIOpcode] = [
        .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData, .leSetAdvertisingEnable,
        .leSetScanParameters, .leSetScanEnable, .leCreateConnection,
    ]
    private static let extended: [HCIOpcode] = [
        .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
        .leSetExtendedAdvertisingEnable, .leSetExtendedScanParameters, .leSetExtendedScanEnable,
        .leExtendedCreateConnection,
    ]
    private static let faults: [CommandFault] =
        [.drop, .delay(.milliseconds(500)), .delay(.seconds(5)), .hardwareError(code: 1)]
        + [.commandDisallowed, .unknownHCICommand, .connectionLimitExceeded].map { .refuse($0) }
        + [1, 3, 6].map { .corrupt(offset: $0, mask: 0x81) }

    /// Checks that the hosts work after the faults, or report the reason: the controller may keep a connection unknown
    /// to its host.
    private func finish(_ hosts: HostsOnRadio, _ end: HostsOnRadio.End, _ what: Comment) {
        if case .silent(let step) = end { Issue.record("\(what): nobody tells of \(step)") }
        #expect(hosts.now < .seconds(300), what)
        for controller in hosts.controllers { controller.removeFaults() }
        guard hosts.failure == nil else { return }
        if case .silent(let step) = hosts.session() { Issue.record("\(what), again: nobody tells of \(step)") }
    }

    @Test(
        "A command delayed, forgotten, refused, garbled, or met by a hardware error ends in a typed error or in success",
        arguments: [VirtualController.Generation.legacy, .extended]
    )
    func commands(_ generation: VirtualController.Generation) {
        var ends: [String: Int] = [:]
        for opcode in Self.common + (generation == .legacy ? Self.legacy : Self.extended) {
            for fault in Self.faults {
                for (controller, skipped) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    let hosts = HostsOnRadio(generation, seed: 5)
                    hosts.controllers[controller].inject(fault, into: opcode, skipping: skipped, times: 1)
                    var end = hosts.bringUp()
                    if end == .done { end = hosts.session() }
                    finish(hosts, end, "\(opcode) \(fault) \(controller) \(skipped)")
                    switch end {
                    case .done: ends["done", default: 0] += 1
                    case .failed: ends["failed", default: 0] += 1
                    case .refused: ends["refused", default: 0] += 1
                    case .silent: ends["silent", default: 0] += 1
                    }
                }
            }
        }
        let counts = ends.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        print("X-7: \(generation) controllers with one fault of a command: \(counts)")
        #expect(ends["silent"] == nil)
        for end in ["done", "failed", "refused"] { #expect((ends[end] ?? 0) > 10, "\(end)") }
    }

    @Test("An event lost, late, twice or garbled ends in a typed error or in success")
    func events() {
        let faults: [EventFault] =
            [.drop, .duplicate, .delay(.seconds(1)), .delay(.seconds(50))]
            + (0..<8).map { .corrupt(offset: $0, mask: 0x81) }
        var failed = 0
        for fault in faults {
            for controller in [0, 1] {
                for which in 0..<5 {
                    let hosts = HostsOnRadio(.extended, seed: 6)
                    switch which {
                    case 0: hosts.controllers[controller].inject(fault, intoEvent: 0x13, times: 1)
                    case 1: hosts.controllers[controller].inject(fault, intoEvent: 0x05, times: 1)
                    case 2: hosts.controllers[controller].inject(fault, into: .connectionComplete, times: 1)
                    case 3: hosts.controllers[controller].inject(fault, into: .enhancedConnectionComplete, times: 1)
                    default: hosts.controllers[controller].inject(fault, into: .extendedAdvertisingReport)
                    }
                    var end = hosts.bringUp()
                    if end == .done { end = hosts.session() }
                    finish(hosts, end, "\(fault) \(controller) \(which)")
                    if case .failed = end { failed += 1 }
                }
            }
        }
        #expect(failed > 0)
    }

    @Test("Data lost, twice or garbled on the air leaves both hosts working")
    func data() {
        for fault in [.drop, .duplicate, .corrupt(offset: 0, mask: 0xFF), .corrupt(offset: 2, mask: 0x01)]
            as [DataFault]
        {
            for direction in [DataDirection.fromHost, .toHost] {
                for times in [1, .max] {
                    let hosts = HostsOnRadio(.extended, seed: 7)
                    hosts.controllers[1].inject(fault, intoData: direction, skipping: 1, times: times)
                    var end = hosts.bringUp()
                    if end == .done { end = hosts.session() }
                    #expect(hosts.failure == nil)
                    finish(hosts, end, "\(fault) \(direction) \(times)")
                }
            }
        }
    }
}
