// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser

/// `blewedge run`.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "run", abstract: "Type what a device sends.")
}
