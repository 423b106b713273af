// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Link

/// `blewedge demo`.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show the whole path with a radio in memory: no adapter, no privilege, nothing typed elsewhere.",
        discussion: """
            A simulated scanner advertises on a controller in memory. The same program that `run` is finds it, connects, \
            discovers its service, subscribes, and types the barcodes that it sends, here into this terminal instead of a \
            virtual keyboard. At the end the account has to balance, and every barcode to be there.

            EXAMPLES:
              blewedge demo                  Watch it.
              blewedge demo --fast           Without pauses; status 0 if all is right.
              blewedge demo --fast --barcodes 1000 --json
            """
    )

    @Flag(help: "Type without the pauses that readers of a real keyboard need, and draw nothing.")
    var fast = false

    @Option(help: ArgumentHelp("Send so many barcodes instead of a few samples.", valueName: "count"))
    var barcodes: Int?

    @OptionGroup var captureOptions: CaptureOptions

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        if let barcodes, !(1...100_000).contains(barcodes) {
            throw ValidationError("--barcodes takes 1 to 100000")
        }
    }

    func run() throws {
        let list = barcodes.map { (0..<$0).map(Barcodes.numbered) } ?? Barcodes.samples
        try DemoRun(list, isFast: fast, isJSON: json).run(captureOptions)
    }
}
