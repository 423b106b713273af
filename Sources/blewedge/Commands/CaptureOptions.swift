// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothLE
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// The packet capture of `scan`, `gatt`, `run`, `simulate` and `demo`.
struct CaptureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Record the adapter's traffic, which Wireshark and btmon open. It holds all contents; its owner alone may read it.",
            discussion: """
                btsnoop as btmon writes it. A capture that is there is continued. It ends at 1 GiB, or when the disk is \
                full; the command goes on.
                """,
            valueName: "file"
        )
    )
    var capture: String?

    /// Begins the capture that was asked for, of a transport, or of a controller in memory; nil where none was.
    ///
    /// `note` prints that it has stopped.
    func begin(
        on loop: EventLoop,
        for transport: AdapterTransport?,
        note: @escaping (Message) -> Void = { Console.note($0) }
    ) throws(CommandFailure) -> TrafficCapture? {
        guard let capture else { return nil }
        do throws(TrafficCapture.Failure) {
            let traffic = try TrafficCapture(to: capture, on: loop)
            // A host of our own hands its packets over itself.
            if case .kernel(let selector)? = transport {
                try traffic.listen()
                if case .index(let index) = selector { traffic.follow(index) }
            }
            traffic.onFailure = { failure in
                note(NoteText.captureStopped.message(CommandFailure(failure).cause))
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
