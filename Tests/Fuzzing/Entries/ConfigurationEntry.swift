// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Daemon

/// The input is a configuration: it is rejected with positions and reasons, or it is unchanged by writing and reading.
enum ConfigurationEntry {
    static func fault(in bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(ConfigurationFaults) {
            let configuration = try Configuration(text: text)
            let written = configuration.text(isCommented: false)
            guard let again = try? Configuration(text: written) else { return "cannot be read again: \(written)" }
            guard again == configuration else { return "read as another: \(written)" }
            guard configuration.ownProfiles.count <= Configuration.mostProfiles else { return "too many profiles" }
            return nil
        } catch {
            guard !error.faults.isEmpty else { return "refused for no reason" }
            let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
            let wrong = error.faults.first {
                ($0.line.map { !(1...lines + 1).contains($0) } ?? false) || $0.reason.isEmpty
            }
            return wrong.map { "no place in \(lines) lines: \($0)" }
        }
    }
}
