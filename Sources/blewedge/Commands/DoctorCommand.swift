// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothLE
import Configuration
import Control
import Cryptography
import Daemon
import Devices
import LinuxIO
import Setup
import Texts
import Typing

/// `blewedge doctor`.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find out why nothing is typed.",
        discussion: """
            Looks at the kernel, the adapter, the rights, the keyboard, the choice, the daemon and the console, and changes \
            none of them. Each finding says what is wrong, why it matters and what mends it. A finding `blocks` when nothing is \
            typed until it is mended, `hinders` when what is typed may go wrong, and is a `note` else. With --json there is a \
            table of what the kernel has of all that is used: each row with its state, and what is done without it.

            EXAMPLES:
              blewedge doctor
              sudo blewedge doctor --json

            EXIT STATUS:
            That of the first finding but notes: 69 the adapter, a kernel's part, the daemon or the device is not there, or \
            Bluetooth is off; 77 a permission is missing; 78 the configuration, the choice, a layout or a terminal is not \
            what it has to be; 74 bytes were lost. 0 where nothing is found.
            """
    )

    @OptionGroup var adapterOptions: AdapterOptions

    @Option(
        help: ArgumentHelp(
            "The layout to compare with the console's, instead of the daemon's or the configuration's.",
            valueName: "name"
        )
    )
    var layout: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        if let layout, !layout.hasPrefix("console") { _ = try LayoutSource.layout(layout) }
        let places = try DaemonPaths.reachable()
        let facts = SystemFacts(at: places, adapter: adapterOptions.adapter, layout: layout)
        let findings = Doctor.findings(facts)
        let text =
            json
            ? Doctor.object(findings, kernel: Doctor.table(facts), mbedTLS: CryptographyLibrary.version).text + "\n"
            : Doctor.text(findings, .current)
        try StandardStream.output.write(text)
        if !json { Console.note(NoteText.linkedIn.message(CryptographyLibrary.version)) }
        let status = Doctor.status(findings)
        guard status == .success else { throw status }
    }
}
