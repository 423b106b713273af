// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

struct CaptureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture",
        abstract: "Print the Attribute Protocol (ATT) packets in a capture file.",
        discussion: """
            The command reads a file that was written by --capture or by `btmon -w`. Each line contains the time, the \
            adapter, the connection, the direction (> to the device, < from the device), the packet type, the \
            attribute and the value. If a packet violates the protocol, only its bytes are printed.

            EXAMPLES:
              blewedge run --device LINBLE-TEST --capture session.btsnoop
              blewedge capture session.btsnoop
              blewedge capture session.btsnoop --json
            """
    )

    @Argument(help: ArgumentHelp("Capture file.", valueName: "file"), completion: .file())
    var file: String

    @Flag(help: "Print the output as JSON, with one object per line.")
    var json = false

    private static let pieceSize = 1 << 16

    func run() throws {
        let descriptor: Descriptor
        do throws(Errno) {
            descriptor = try Descriptor.forReading(file)
        } catch {
            let isPermission = error == .permissionDenied || error == .notPermitted
            throw CommandFailure(
                isPermission ? .permission : .inputOutput,
                CommandFaultText.unreadable,
                file,
                "\(error)"
            )
        }
        var reader = BtsnoopReader()
        var trace = ATTTrace()
        var names: [ControllerIndex: String] = [:]
        var piece = [UInt8](repeating: 0, count: Self.pieceSize)
        do {
            while case .done(let count) = try descriptor.read(into: &piece), count > 0 {
                reader.append(piece.prefix(count))
                var lines = ""
                while let record = try reader.next() {
                    if let name = record.controllerName { names[record.index] = LocalName.printable(name) }
                    guard let packet = trace.handle(record) else { continue }
                    lines += line(packet, names[packet.index] ?? "hci\(packet.index.rawValue)") + "\n"
                }
                try StandardStream.output.write(lines)
            }
            try reader.finish()
        } catch let error as DecodingError {
            throw CommandFailure(.inputOutput, CommandFaultText.captureCut, file, "\(error)")
        }
        if trace.malformed > 0 { Console.note(LogText.packetsLeftOut.message("\(trace.malformed)")) }
    }

    private func line(_ packet: ATTTrace.Packet, _ adapter: String) -> String {
        let opcode = ATTOpcode(rawValue: packet.pdu.first ?? 0)
        let decoded = try? ATTPDU(packet.pdu.span)
        guard json else {
            let isSent = packet.direction == .sent
            let connection = "0x" + Hexadecimal.text(UInt64(packet.connection), digits: 4)
            let meaning =
                if let decoded {
                    [
                        opcode.description, decoded.attribute?.description,
                        decoded.attributeValue.map { Hexadecimal.text($0) },
                    ].compactMap { $0 }.joined(separator: " ")
                } else {
                    "malformed " + Hexadecimal.text(packet.pdu)
                }
            let time = WallClock.universal(microseconds: packet.time)
            return "\(time) \(adapter) \(connection) \(isSent ? ">" : "<") \(meaning)"
        }
        var object = JSONObject()
        object.add("time", WallClock.universal(microseconds: packet.time))
        object.add("adapter", adapter)
        object.add("connection", packet.connection)
        object.add("direction", packet.direction == .sent ? "sent" : "received")
        object.add("opcode", packet.pdu.first)
        object.add("packet", decoded == nil ? nil : opcode.name)
        object.add("handle", decoded?.attribute?.rawValue)
        object.add("value", decoded?.attributeValue.map { Hexadecimal.text($0) })
        object.add("pdu", Hexadecimal.text(packet.pdu))
        return object.text
    }
}

/// The capture option of `scan`, `gatt`, `run`, `simulate` and `demo`.
struct CaptureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Record the adapter's traffic in a file for Wireshark and btmon. The capture file contains all transferred data, so only its owner may read it.",
            discussion: """
                The capture file has the btsnoop format, which btmon also writes. If the capture file exists, new \
                traffic is appended. Recording stops when the file reaches 1 GiB or the disk is full, but the command \
                continues.
                """,
            valueName: "file"
        )
    )
    var capture: String?

    /// Starts capturing the packets of a transport, or of a controller in memory; returns nil if the option is not set.
    ///
    /// `note` prints the error if the capture stops.
    func begin(
        on loop: EventLoop,
        for transport: AdapterTransport?,
        note: @escaping (Message) -> Void = { Console.note($0) }
    ) throws(CommandFailure) -> TrafficCapture? {
        guard let capture else { return nil }
        do throws(TrafficCapture.Failure) {
            let traffic = try TrafficCapture(to: capture, on: loop)
            // Listen only to the kernel's packets, because this program's own host passes its packets to the capture
            // itself.
            switch transport {
            case .kernel(let selector):
                try traffic.listen()
                if case .index(let index) = selector { traffic.follow(index) }
            case .userChannel(let index): traffic.announce("hci\(index.rawValue)", index)
            case .h4: traffic.announce("h4:")
            case .memory, nil: traffic.announce("memory:")
            }
            traffic.onFailure = { failure in
                note(LogText.captureStopped.message(CommandFailure(failure).cause))
            }
            return traffic
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension CommandFailure {
    init(_ failure: TrafficCapture.Failure) {
        switch failure {
        case .cannotOpen(let path, .permissionDenied), .cannotOpen(let path, .notPermitted),
            .cannotOpen(let path, .readOnlyFileSystem):
            self.init(.permission, CommandFaultText.captureNotPermitted, path)
        case .cannotOpen(let path, .fileExists):
            self.init(.inputOutput, CommandFaultText.noCapture, path)
        case .cannotOpen(let path, .tooManySymbolicLinkLevels):
            self.init(.inputOutput, CommandFaultText.captureIsLink, path)
        case .cannotOpen(let path, let error):
            self.init(.inputOutput, CommandFaultText.captureNotMade, path, "\(error)")
        case .cannotListen(.permissionDenied), .cannotListen(.notPermitted):
            self.init(AdapterError.notPermitted(missing: Capability.missing))
        case .cannotListen(.addressFamilyNotSupported): self.init(AdapterError.noBluetoothInKernel)
        case .cannotListen(let error):
            self.init(.inputOutput, CommandFaultText.noMonitor, "\(error)")
        case .cannotWrite(let path, .fileTooLarge): self.init(.inputOutput, CommandFaultText.captureFull, path)
        case .cannotWrite(let path, let error):
            self.init(.inputOutput, CommandFaultText.captureNotWritten, path, "\(error)")
        }
    }
}
