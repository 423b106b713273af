// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import Typing

/// Xorg's input drivers: libinput, and evdev, which came before it.
enum InputDriver {
    /// The directories of Xorg's logs.
    private static let logs = ["/var/log"]
    /// The directories of its input drivers.
    private static let modules = ["/usr/lib/xorg/modules/input", "/usr/lib64/xorg/modules/input"]
    /// The most bytes of a log that is looked at.
    private static let longestLog = 16 << 20

    /// The file that shows that Xorg reads the virtual keyboard with evdev, or has no other driver; nil if none does.
    ///
    /// A log has the driver of each device; a later Xorg writes it anew.
    static func evidenceOfEvdev(logs: [String] = logs, modules: [String] = modules) -> String? {
        let uses = "Using input driver 'evdev' for '\(VirtualKeyboard.name)'"
        for directory in logs {
            for name in FileSystem.names(in: directory) where name.hasPrefix("Xorg.") && name.hasSuffix(".log") {
                let path = "\(directory)/\(name)"
                guard let bytes = try? FileSystem.contents(of: path, limit: longestLog) else { continue }
                let lines = bytes.split(separator: UInt8(ascii: "\n"))
                if lines.contains(where: { String(decoding: $0, as: UTF8.self).hasSuffix(uses) }) { return path }
            }
        }
        for directory in modules where !FileSystem.exists("\(directory)/libinput_drv.so") {
            let path = "\(directory)/evdev_drv.so"
            if FileSystem.exists(path) { return path }
        }
        return nil
    }
}
