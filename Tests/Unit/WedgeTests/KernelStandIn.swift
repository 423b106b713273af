// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothAdapters
    import BluetoothHost
    import BluetoothPackets
    import Configuration
    import Foundation
    import Glibc
    import LinuxIO
    import Synchronization
    import SystemPackage

    /// Simulated kernel: a controller hci0 with one device in range, a uinput node, and optionally an error at one call
    /// site.
    ///
    /// The program's sockets are ends of socket pairs; `turn` handles the other ends on the loop's thread.
    final class KernelStandIn: Sendable {
        /// The new sockets of the program, and the error to be returned.
        private struct State {
            var opened: [(kind: CallKind, number: Int32)] = []
            var due: (site: CallSite, error: Errno, count: Int)?
            var hits: [Duration] = []
            var isMet = false
            /// Remote ends of connections that are never established; nil if connections are established.
            var unmade: [Int32]?
        }

        static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
        private let state = Mutex(State())
        /// Feature that the kernel lacks; nil for none.
        let absence: KernelAbsence?

        init(lacking absence: KernelAbsence? = nil) { self.absence = absence }

        /// True once the program has noticed the missing feature.
        var isMet: Bool { state.withLock { $0.isMet } }

        /// Returns true if the kernel lacks this management command.
        func lacks(command: UInt16) -> Bool {
            guard absence?.commands.contains(command) == true else { return false }
            state.withLock { $0.isMet = true }
            return true
        }

        /// Starts answering the calls of this thread and of the threads that it starts.
        func begin() { CallScript.use { [self] site in answer(site) } }

        /// Makes the next `count` calls at a call site fail.
        func fail(_ site: CallSite, with error: Errno, times count: Int) {
            state.withLock { state in
                state.due = (site, error, count)
                state.hits = []
            }
        }

        /// Cancels the remaining failures.
        func relent() { state.withLock { $0.due = nil } }

        /// Times of the failed calls.
        var hits: [Duration] { state.withLock { $0.hits } }

        /// True if connections are started, but never established.
        var isDeaf: Bool {
            get { state.withLock { $0.unmade != nil } }
            set {
                state.withLock { state in
                    for number in state.unmade ?? [] { close(number) }
                    state.unmade = newValue ? [] : nil
                }
            }
        }

        /// Returns the sockets that were opened since the last call.
        func takeOpened() -> [(kind: CallKind, number: Int32)] {
            state.withLock { state in
                defer { state.opened = [] }
                return state.opened
            }
        }

        private func answer(_ site: CallSite) -> CallScript.Answer? {
            state.withLock { state in
                if let error = absence?.calls.first(where: { $0.site.means(site) })?.error {
                    state.isMet = true
                    return .error(error)
                }
                if let due = state.due, due.site.means(site), due.count > 0 {
                    state.due?.count -= 1
                    state.hits.append(MonotonicClock.now)
                    return .error(due.error)
                }
                switch (site.kind, site.call) {
                case (.hci, .socket), (.management, .socket), (.link, .socket), (.keyboard, .open):
                    var ends: [Int32] = [-1, -1]
                    let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
                    guard socketpair(AF_UNIX, type | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
                        return .error(.tooManyOpenFiles)
                    }
                    if site.kind == .link, state.unmade != nil {
                        // A full socket is not writable, like a socket that is not connected.
                        let packet = [UInt8](repeating: 0, count: 16_384)
                        while send(ends[0], packet, packet.count, Int32(MSG_NOSIGNAL)) > 0 {}
                        state.unmade?.append(ends[1])
                    } else {
                        state.opened.append((site.kind, ends[1]))
                    }
                    return .result(ends[0])
                case (.hci, .bind), (.management, .bind), (.link, .bind), (.link, .connect), (.hci, .setsockopt),
                    (.link, .setsockopt), (.keyboard, .ioctl):
                    return .result(0)
                default: return nil
                }
            }
        }
    }

    extension CallSite {
        /// Returns true if the call is made at this call site, with the same option unless it is nil.
        fileprivate func means(_ site: CallSite) -> Bool {
            kind == site.kind && call == site.call && (option == nil || option == site.option)
        }
    }

    /// Remote side of a `KernelStandIn`: its controller, the device, and an application that reads the keys.
    final class StandInMachine {
        private final class Peer {
            let kind: CallKind
            let number: Int32
            /// True for a raw HCI socket that sends commands; the others receive reports.
            var isCommands = false

            init(_ kind: CallKind, _ number: Int32) {
                self.kind = kind
                self.number = number
            }

            deinit { Glibc.close(number) }

            func send(_ bytes: [UInt8]) { _ = Glibc.send(number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
        }

        let kernel: KernelStandIn
        /// True if the device advertises but does not respond, so that connections are not established.
        var isDeaf: Bool {
            get { kernel.isDeaf }
            set { kernel.isDeaf = newValue }
        }
        /// True if the controller lists the commands for extended scanning without supporting them.
        var listsExtendedScanning = false
        /// Number of received commands for extended scanning.
        private(set) var extendedCommands = 0
        /// Number of the controller; its address does not change.
        var index: UInt8 = 0
        private var peers: [Peer] = []
        private var isScanning = false
        private var reported = Duration.zero
        private var server: GATTServer
        private let output: AttributeHandle
        private var link: (peer: Peer, id: GATTServer.PeerID, client: GATTClient)?
        private(set) var heldKeys: Set<UInt16> = []
        /// Values that were sent to the device.
        private(set) var received: [[UInt8]] = []
        /// Number of times that Enter was pressed.
        private(set) var barcodes = 0

        init(_ kernel: KernelStandIn) throws {
            self.kernel = kernel
            var builder = try GATTDatabaseBuilder(deviceName: "A")
            let profile = Profile.linble
            let service = try builder.add(
                GATTServiceDefinition(
                    uuid: profile.service,
                    characteristics: [
                        GATTCharacteristicDefinition(
                            uuid: profile.fromPeripheral,
                            properties: .notify,
                            value: .dynamic
                        ),
                        GATTCharacteristicDefinition(
                            uuid: profile.toPeripheral,
                            properties: .writeWithoutResponse,
                            value: .dynamic
                        ),
                    ]
                )
            )
            output = service.value(of: profile.fromPeripheral) ?? .invalid
            server = GATTServer(builder.database)
        }

        /// True if a client has subscribed to the device's values.
        var isSubscribed: Bool { link != nil && !server.subscribers(of: output).isEmpty }

        /// Notifies the subscriber of a value.
        func notify(_ text: String) {
            _ = try? server.update(Array(text.utf8), of: output)
            pump()
        }

        /// Ends the link on the device's side.
        func dropLink() {
            guard let link else { return }
            end(link.peer)
        }

        /// Removes the controller with all its sockets, and adds it again under another number.
        func dropAdapter(backAs index: UInt8) {
            for peer in peers where peer.kind == .management {
                peer.send([0x05, 0x00, self.index, 0x00, 0x00, 0x00])
            }
            self.index = index
            for peer in peers where peer.kind == .hci || peer.kind == .link { end(peer) }
        }

        /// Sends a management event for another controller.
        func tellManagement() {
            for peer in peers where peer.kind == .management { peer.send([0x04, 0x00, 0x07, 0x00, 0x00, 0x00]) }
        }

        /// Reports a connection interval in units of 1.25 ms without latency.
        func grant(interval: UInt8) {
            let address = KernelStandIn.device.address.rawValue
            let event: [UInt8] =
                [0x1C, 0x00, index, 0x00, 0x10, 0x00] + (0..<6).map { UInt8(truncatingIfNeeded: address >> (8 * $0)) }
                + [0x02, 0x00, 0x18, 0x00, interval, 0x00, 0x00, 0x00, 0x58, 0x02]
            for peer in peers where peer.kind == .management { peer.send(event) }
        }

        /// Removes the keyboard.
        func dropKeyboard() { for peer in peers where peer.kind == .keyboard { end(peer) } }

        /// Handles all pending packets.
        func turn() {
            peers += kernel.takeOpened().map { Peer($0.kind, $0.number) }
            for peer in peers { while let packet = receive(peer) { take(packet, from: peer) } }
            let now = MonotonicClock.now
            if isScanning, now - reported >= .milliseconds(20) {
                reported = now
                let address = KernelStandIn.device.address.rawValue
                let report: [UInt8] =
                    [0x04, 0x3E, 15, 0x02, 0x01, 0x00, 0x01]
                    + (0..<6).map { UInt8(truncatingIfNeeded: address >> (8 * $0)) }
                    + [3, 0x02, 0x01, 0x06, 0xC4]
                for peer in peers where peer.kind == .hci && !peer.isCommands { peer.send(report) }
            }
        }

        private func end(_ peer: Peer) {
            peers.removeAll { $0 === peer }
            if peer.kind == .keyboard { heldKeys = [] }
            if let link, link.peer === peer {
                server.disconnect(link.id)
                self.link = nil
            }
        }

        /// Returns the next packet, or nil.
        ///
        /// Ends that the program has closed are removed.
        private func receive(_ peer: Peer) -> [UInt8]? {
            guard peers.contains(where: { $0 === peer }) else { return nil }
            var buffer = [UInt8](repeating: 0, count: 8192)
            let count = recv(peer.number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 { return Array(buffer.prefix(count)) }
            if count == 0 || (errno != EAGAIN && errno != EINTR) { end(peer) }
            return nil
        }

        private func take(_ packet: [UInt8], from peer: Peer) {
            switch peer.kind {
            case .management: answerManagement(packet, peer)
            case .hci: answerCommand(packet, peer)
            case .link: answerDevice(packet, peer)
            case .keyboard: readKeys(packet)
            default: break
            }
        }

        private func answerManagement(_ packet: [UInt8], _ peer: Peer) {
            guard packet.count >= 6 else { return }
            if kernel.lacks(command: UInt16(packet[0]) | UInt16(packet[1]) << 8) {
                // Command Status: Unknown Command.
                return peer.send([0x02, 0x00, packet[2], packet[3], 0x03, 0x00, packet[0], packet[1], 0x01])
            }
            let on: [UInt8] = [0x01, 0x02, 0x00, 0x00]
            var status: UInt8 = 0
            var parameters: [UInt8] = []
            switch packet[0] {
            case 0x02: parameters = supported
            case 0x03: parameters = [1, 0, index, 0]
            case 0x04 where packet[2] == index:
                // Address, version, manufacturer, supported and current settings, class, name and short name.
                parameters = [0x01, 0x00, 0xEE, 0xFF, 0xC0, 0x00, 0x0C, 0x3F, 0x00] + on + on
                parameters += [UInt8](repeating: 0, count: 3 + 249 + 11)
            case 0x05, 0x0D: parameters = on
            // Stop Discovery: no discovery is active.
            case 0x24: status = 0x0B
            case 0x04: status = 0x11
            default: break
            }
            let body = [packet[0], packet[1], status] + parameters
            peer.send([0x01, 0x00, packet[2], packet[3], UInt8(body.count & 0xFF), UInt8(body.count >> 8)] + body)
        }

        /// Commands and events in the format of Read Management Supported Commands.
        private var supported: [UInt8] {
            let commands = (1...0x45).filter { kernel.absence?.commands.contains($0) != true }
            let events = (1...0x2E).filter { kernel.absence?.events.contains($0) != true }
            return [UInt8(commands.count), 0, UInt8(events.count), 0]
                + (commands + events).flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        }

        private func answerCommand(_ packet: [UInt8], _ peer: Peer) {
            guard packet.count >= 4, packet[0] == 0x01 else { return }
            peer.isCommands = true
            var parameters: [UInt8] = [0]
            if packet[1] == 0x02, packet[2] == 0x10 {
                var commands = [UInt8](repeating: 0, count: 64)
                commands[26] = 0b1100
                if listsExtendedScanning { commands[37] = 0b110_0000 }
                parameters += commands
            }
            if packet[1] == 0x41 || packet[1] == 0x42, packet[2] == 0x20 {
                extendedCommands += 1
                // Unknown HCI Command.
                parameters = [0x01]
            }
            if packet[1] == 0x0C, packet[2] == 0x20, packet.count > 4 { isScanning = packet[4] == 1 }
            peer.send([0x04, 0x0E, UInt8(3 + parameters.count), 0x01, packet[1], packet[2]] + parameters)
        }

        private func answerDevice(_ pdu: [UInt8], _ peer: Peer) {
            if link?.peer !== peer {
                if let link { server.disconnect(link.id) }
                link = (peer, server.connect(), GATTClient())
            }
            guard let id = link?.id else { return }
            _ = link?.client.receive(pdu.span, from: id, for: &server, now: MonotonicClock.now)
            pump()
        }

        private func pump() {
            while let event = server.nextEvent() {
                if case .command(_, _, let value) = event { received.append(value) }
            }
            guard let id = link?.id else { return }
            while let pdu = link?.client.nextOutgoing(to: id, from: &server, now: MonotonicClock.now) {
                link?.peer.send(pdu)
            }
        }

        private func readKeys(_ events: [UInt8]) {
            events.withUnsafeBytes { bytes in
                for start in stride(from: 0, through: bytes.count - 24, by: 24) {
                    let type = bytes.loadUnaligned(fromByteOffset: start + 16, as: UInt16.self)
                    let code = bytes.loadUnaligned(fromByteOffset: start + 18, as: UInt16.self)
                    let value = bytes.loadUnaligned(fromByteOffset: start + 20, as: Int32.self)
                    guard type == 1 else { continue }
                    if value == 0 { heldKeys.remove(code) } else { heldKeys.insert(code) }
                    if code == 28, value == 1 { barcodes += 1 }
                }
            }
        }
    }
#endif
