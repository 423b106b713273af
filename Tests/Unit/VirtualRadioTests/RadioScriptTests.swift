// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import TestSupport
import Testing
import VirtualRadio

/// Script of radio-sessions.txt: commands and data for controllers, and every packet that they send, with its time.
struct RadioScript {
    struct Unreadable: Error { var line: Int }

    var name: String
    var lines: [(number: Int, text: String)] = []

    /// Returns all scripts of a file.
    static func all(_ file: String) throws -> [RadioScript] {
        var scripts: [RadioScript] = []
        for line in try VectorFile.lines(file) {
            if line.text.hasPrefix("script ") {
                scripts.append(RadioScript(name: String(line.text.dropFirst(7))))
            } else {
                let last = try #require(scripts.indices.last)
                scripts[last].lines.append(line)
            }
        }
        return scripts
    }

    /// Runs the inputs and returns the actual transcript, to be compared with the file.
    func transcript(_ scripts: [RadioScript]) throws -> [String] {
        var log: [String] = []
        var bench = Bench([])
        try play(scripts, &bench, &log)
        return log
    }

    private func play(_ scripts: [RadioScript], _ bench: inout Bench, _ log: inout [String]) throws {
        for (number, text) in lines where !">@".contains(text.prefix(1)) {
            log.append(text)
            let words = text.split(separator: " ").map { String($0) }
            let rest = words.dropFirst().joined(separator: " ")
            switch words[0] {
            case "after":
                let script = try #require(scripts.first { $0.name == rest })
                let before = log
                try script.play(scripts, &bench, &log)
                log = before
            case "radio": bench = Self.bench(words.dropFirst())
            case "apart": bench.radio.separate(bench.first, bench.second)
            case "together": bench.radio.join(bench.first, bench.second)
            case "strength": bench.radio.setSignalStrength(Int8(rest) ?? 0, bench.first, bench.second)
            case "wait": Self.advance(bench, .microseconds(Int((Double(rest) ?? 0) * 1000)), &log)
            default:
                guard let index = Int(words[0]), index <= bench.controllers.count, words.count > 1 else {
                    throw Unreadable(line: number)
                }
                let controller = bench.controllers[index - 1]
                if words[1] == "send" {
                    bench.send(controller, Self.digits(words.dropFirst(2)))
                } else {
                    bench.command(controller, UInt16(words[1], radix: 16) ?? 0, Self.digits(words.dropFirst(2)))
                }
                Self.drain(bench, &log)
            }
        }
    }

    /// Returns hexadecimal digits, in which `AA*3` stands for three bytes.
    private static func digits(_ words: ArraySlice<String>) -> String {
        words.map { word in
            let parts = word.split(separator: "*")
            return String(repeating: String(parts[0]), count: parts.count > 1 ? Int(parts[1]) ?? 0 : 1)
        }.joined()
    }

    /// Creates controllers that report all events; `legacy`, `extended`, and settings such as `sets=1` are the words.
    private static func bench(_ words: ArraySlice<String>) -> Bench {
        let generations = words.compactMap { word -> VirtualController.Generation? in
            word == "legacy" ? .legacy : word == "extended" ? .extended : nil
        }
        let bench = Bench(generations) { configuration in
            for word in words {
                let parts = word.split(separator: "=")
                guard parts.count == 2, let value = UInt8(parts[1]) else { continue }
                switch parts[0] {
                case "connections": configuration.maximumConnections = value
                case "list": configuration.acceptListSize = value
                case "buffers": configuration.aclBufferCount = value
                case "length": configuration.linkDataLength = value
                case "packets": configuration.packetsPerEvent = value
                case "credits": configuration.commandCredits = value
                default: break
                }
            }
        }
        for controller in bench.controllers { bench.wantEverything(controller) }
        return bench
    }

    /// Advances the time, and records packets after each thing that happens.
    private static func advance(_ bench: Bench, _ time: Duration, _ log: inout [String]) {
        let end = bench.radio.now + time
        while let deadline = bench.radio.deadline, deadline <= end {
            bench.radio.advance(to: deadline)
            drain(bench, &log, at: deadline)
        }
        bench.radio.advance(to: end)
    }

    private static func drain(_ bench: Bench, _ log: inout [String], at time: Duration? = nil) {
        var lines: [String] = []
        for controller in bench.controllers {
            while let packet = controller.nextPacket() {
                let bytes = packet.map { Hexadecimal.text([$0]) }.joined(separator: " ")
                lines.append("> \(controller.index + 1) " + bytes)
            }
        }
        if let time, !lines.isEmpty { log.append("@ \(time / .milliseconds(1))") }
        log += lines
    }
}

@Suite struct RadioScriptTests {
    @Test("Each session of radio-sessions.txt, packet for packet, at its time")
    func sessions() throws {
        let scripts = try RadioScript.all("radio-sessions.txt")
        #expect(Set(scripts.map(\.name)).count == scripts.count && scripts.count >= 10)
        for script in scripts {
            let actual = try script.transcript(scripts)
            #expect(actual == script.lines.map(\.text), "\(script.name), line \(script.lines.first?.number ?? 0)")
        }
    }
}
