// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import LinuxIO
import SystemPackage
import Texts

/// Reads report maps from the command line, from a file or from standard input.
enum HIDInput {
    /// Greatest size of a file in bytes: a map in hexadecimal with separators.
    private static let longestFile = 1 << 16

    static func map(_ argument: String) throws(CommandFailure) -> [UInt8] {
        if argument != "-", let bytes = bytes(argument), !bytes.isEmpty { return bytes }
        let content: [UInt8]
        do throws(Errno) {
            content =
                try argument == "-"
                ? standardInput(limit: longestFile) : FileSystem.contents(of: argument, limit: longestFile)
        } catch {
            if error == .noSuchFileOrDirectory {
                throw CommandFailure(.usage, HIDFaultText.notHexadecimal, argument)
            }
            let isPermission = error == .permissionDenied || error == .notPermitted
            throw CommandFailure(
                isPermission ? .permission : .inputOutput,
                CommandFaultText.unreadable,
                argument,
                "\(error)"
            )
        }
        return bytes(String(decoding: content, as: UTF8.self)) ?? content
    }

    /// Parses pairs of digits, which spaces, commas, line ends and `0x` may separate; returns nil for any other text.
    static func bytes(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        for word in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            let digits = word.hasPrefix("0x") || word.hasPrefix("0X") ? word.dropFirst(2) : word
            guard let more = Hexadecimal.bytes(digits) else { return nil }
            bytes += more
        }
        return bytes
    }

    static func standardInput(limit: Int) throws(Errno) -> [UInt8] {
        let input = try Descriptor.forStandardInput()
        var content: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while case .done(let count) = try input.read(into: &piece), count > 0 {
            guard content.count + count <= limit else { throw .fileTooLarge }
            content += piece.prefix(count)
        }
        return content
    }
}
