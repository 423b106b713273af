// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Configuration
import Devices
import Texts
import Typing

// Conversion between requests and lines.

extension ControlRequest {
    /// Verbs of the requests, in the order in which they are listed for users.
    package static let verbs = [
        "status", "events", "scan", "received", "use", "forget", "pair", "connect", "disconnect", "pause", "resume",
        "key",
        "snippet", "clear", "value", "send", "ask", "beacons", "reload", "stop",
        "device",
    ]

    /// Parses a line, given without its line feed.
    package init(line: [UInt8]) throws(ControlFault) {
        var words = RequestScanner(try ControlLine.words(line))
        var verb = try words.text("a request is missing; known are \(Self.verbs.joined(separator: ", "))")
        if verb == "version" {
            let version = try words.text("a version is missing")
            guard version == "\(Self.version)" else {
                throw words.fault("version \(version.debugDescription) is not known; this is \(Self.version)")
            }
            verb = try words.text("a request is missing; known are \(Self.verbs.joined(separator: ", "))")
        }
        self = try Self.read(verb, &words)
        guard words.isAtEnd else { throw words.tooMany }
    }

    private static func read(
        _ verb: String,
        _ words: inout RequestScanner
    ) throws(ControlFault) -> ControlRequest {
        switch verb {
        case "status": return .status
        case "events": return .events
        case "scan": return .scan(for: try words.scanTime(), isAnew: try words.isAnew())
        case "received": return .received
        case "use": return try words.use()
        case "forget": return .forget
        case "pair": return .pair(try words.pair())
        case "connect": return .connect
        case "disconnect": return .disconnect
        case "pause": return .pause
        case "resume": return .resume
        case "key": return .key(try words.keys())
        case "snippet": return .snippet(try words.text("a title is missing"))
        case "clear": return .clear
        case "value": return .value
        case "send": return .send(try words.bytes())
        case "ask": return .ask(try words.command())
        case "beacons": return .beacons(try words.beacons())
        case "reload": return .reload
        case "stop": return .stop
        case "device":
            let name = try words.text("a device's name is missing")
            let verb = try words.text("a request for the device is missing")
            let isNested = verb == "device"
            guard !isNested, case let request = try read(verb, &words), request.concernsDevice else {
                throw words.fault("this request is not for a device")
            }
            return .device(name, request)
        default:
            throw words.fault("\(verb.debugDescription) is no request; known are \(Self.verbs.joined(separator: ", "))")
        }
    }

    /// Text of the request as a line, without its line feed.
    package var line: String { (["version", "\(Self.version)"] + words).joined(separator: " ") }

    private var words: [String] {
        switch self {
        case .status: ["status"]
        case .events: ["events"]
        case .scan(let time, let isAnew): ["scan", Self.word(of: time)] + (isAnew ? ["anew"] : [])
        case .received: ["received"]
        case .use(let device, let confirmed, let security):
            ["use", ControlLine.written("\(device)".utf8)] + (confirmed ? ["yes"] : [])
                + (security.map { ["security", $0.word] } ?? [])
        case .forget: ["forget"]
        case .pair(let request):
            [
                "pair", ControlLine.written("\(request.device)".utf8), "security", request.required.word, "console",
                request.console.rawValue, "seconds", "\(request.limit.components.seconds)",
            ]
        case .connect: ["connect"]
        case .disconnect: ["disconnect"]
        case .pause: ["pause"]
        case .resume: ["resume"]
        case .key(let keys): ["key"] + keys.map(\.description)
        case .snippet(let title): ["snippet", ControlLine.written(title.utf8)]
        case .clear: ["clear"]
        case .value: ["value"]
        case .send(let bytes): ["send", "hex", Hexadecimal.text(bytes)]
        case .ask(let command): ["ask"] + Self.words(command)
        case .beacons(let request): ["beacons"] + request.words
        case .reload: ["reload"]
        case .stop: ["stop"]
        case .device(let name, let request): ["device", ControlLine.written(name.utf8)] + request.words
        }
    }

    /// Formats a time as a number of seconds or, with the unit `ms`, of milliseconds.
    private static func word(of time: Duration) -> String {
        let text = TimeText.text(time)
        return text.hasSuffix("ms") ? text : String(text.dropLast())
    }

    private static func words(_ command: ChatScript.Command) -> [String] {
        let send = ControlLine.written((command.send?.text ?? "").utf8)
        guard let expected = command.expect else { return [send] }
        let reply = ControlLine.written(expected.text.utf8)
        return [send, "reply", reply, "within", TimeText.text(command.timeout), "times", "\(command.attempts)"]
    }
}

struct RequestScanner {
    private let words: [[UInt8]]
    private var taken = 0

    init(_ words: [[UInt8]]) {
        self.words = words
    }

    var isAtEnd: Bool { taken == words.count }

    func fault(_ reason: String) -> ControlFault { ControlFault(taken, reason) }

    var tooMany: ControlFault { ControlFault(taken + 1, "nothing may follow here") }

    /// Returns the next word, which may consist of any bytes; `missing` is the error if there is none.
    mutating func next(_ missing: String) throws(ControlFault) -> [UInt8] {
        taken += 1
        guard words.indices.contains(taken - 1) else { throw fault(missing) }
        return words[taken - 1]
    }

    mutating func text(_ missing: String) throws(ControlFault) -> String {
        guard let text = String(validating: try next(missing), as: UTF8.self) else { throw fault("it is not UTF-8") }
        return text
    }

    /// Parses a number of seconds or, with the unit `ms`, of milliseconds.
    mutating func scanTime() throws(ControlFault) -> Duration {
        guard !isAtEnd else { return ControlRequest.defaultScanTime }
        let word = try text("")
        let times = ControlRequest.scanTimes
        guard word.utf8.count <= 7, word.utf8.last != UInt8(ascii: "s") || word.hasSuffix("ms"),
            let time = TimeText.duration(word), times.contains(time)
        else { throw fault("a number of seconds from 1 to 60, or of ms (100ms) from 100 on, belongs here") }
        return time
    }

    /// Parses a number of seconds within bounds.
    ///
    /// At the end of the line, returns `usual`, or throws an error if that is nil.
    mutating func seconds(_ times: ClosedRange<Int>, usual: Int? = nil) throws(ControlFault) -> Int {
        if isAtEnd, let usual { return usual }
        let word = try text("a number of seconds is missing")
        // Allow at most four digits and no sign, because `Int` accepts other notations too.
        guard word.utf8.count <= 4, word.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let seconds = Int(word), times.contains(seconds)
        else { throw fault("a number of seconds from \(times.lowerBound) to \(times.upperBound) belongs here") }
        return seconds
    }

    /// Returns true if the next word is `anew`, which limits the list to this scan; throws an error for any other word.
    mutating func isAnew() throws(ControlFault) -> Bool {
        guard !isAtEnd else { return false }
        guard try text("") == "anew" else { throw fault("only `anew` may follow") }
        return true
    }

    private mutating func device() throws(ControlFault) -> DeviceSelector {
        let missing = "a device's name or address is missing"
        guard let device = DeviceSelector(try text(missing)) else { throw fault(missing) }
        return device
    }

    /// Parses a device, optionally followed by the security, the console and the seconds, in this order.
    mutating func pair() throws(ControlFault) -> PairingRequest {
        var request = PairingRequest(try device())
        if try option("security", nil) {
            let level = GATTLinkSecurity.Level(word: try text("a level is missing"))
            guard let level, level > .none else { throw fault("encrypted or authenticated belongs here") }
            request.required = level
        }
        if try option("console", nil) {
            guard let console = PairingConsole(rawValue: try text("a console is missing")) else {
                let consoles = PairingConsole.allCases.map(\.rawValue).joined(separator: ", ")
                throw fault("one of \(consoles) belongs here")
            }
            request.console = console
        }
        if try option("seconds", "only `security`, `console` and `seconds` may follow, in this order") {
            let limits = PairingRequest.limits
            let times = Int(limits.lowerBound.components.seconds)...Int(limits.upperBound.components.seconds)
            request.limit = .seconds(try seconds(times))
        }
        return request
    }

    mutating func use() throws(ControlFault) -> ControlRequest {
        let device = try self.device()
        let isConfirmed = try option("yes", nil)
        let rest = isConfirmed ? "`security`" : "`yes` and `security`"
        guard try option("security", "only \(rest) may follow; a name with spaces is put in quotation marks") else {
            return .use(device, confirmed: isConfirmed)
        }
        guard let level = GATTLinkSecurity.Level(word: try text("a level is missing")) else {
            throw fault("one of \(GATTLinkSecurity.Level.words) belongs here")
        }
        return .use(device, confirmed: isConfirmed, security: level)
    }

    mutating func keys() throws(ControlFault) -> [KeyName] {
        var keys: [KeyName] = []
        repeat {
            let word = try text("the name of a key is missing")
            guard let key = KeyName(word) else {
                let names = KeyName.allCases.map(\.description).joined(separator: " ")
                throw fault("there is no key \(word.debugDescription); known are \(names)")
            }
            guard keys.count < ControlRequest.mostKeys else {
                throw fault("more than \(ControlRequest.mostKeys) keys")
            }
            keys.append(key)
        } while !isAtEnd
        return keys
    }

    /// Parses a command, optionally followed by its reply, its time-out and its attempts, in this order.
    mutating func command() throws(ControlFault) -> ChatScript.Command {
        let send = try template(.command, "the bytes of the command are missing")
        guard try option("reply", "only `reply` may follow") else { return ChatScript.Command(send: send, expect: nil) }
        let reply = try template(.reply, "the bytes of the reply are missing")
        var command = ChatScript.Command(send: send, expect: reply)
        if try option("within", nil) {
            let times = ChatScript.Command.timeouts
            guard let time = TimeText.duration(try text("a time is missing")), times.contains(time) else {
                let ends = [times.lowerBound, times.upperBound].map(TimeText.text)
                throw fault("a time from \(ends.joined(separator: " to ")) belongs here")
            }
            command.timeout = time
        }
        if try option("times", "only `within` and `times` may follow") {
            guard let count = Int(try text("a number is missing")), 1...ChatScript.Command.mostAttempts ~= count else {
                throw fault("a number from 1 to \(ChatScript.Command.mostAttempts) belongs here")
            }
            command.attempts = count
        }
        return command
    }

    /// Consumes the next word and returns true if it is `name`.
    ///
    /// Throws an error for any other word if `wanted` lists the permitted words.
    private mutating func option(_ name: String, _ wanted: String?) throws(ControlFault) -> Bool {
        guard !isAtEnd else { return false }
        if words[taken] == Array(name.utf8) {
            taken += 1
            return true
        }
        guard let wanted else { return false }
        _ = try text("")
        throw fault(wanted)
    }

    private mutating func template(
        _ purpose: HexTemplate.Purpose,
        _ missing: String
    ) throws(ControlFault) -> HexTemplate {
        let text = try text(missing)
        do throws(HexTemplateFault) {
            let template = try HexTemplate(text, for: purpose)
            if let number = template.uses.subtracting(template.remembers).min() {
                throw HexTemplateFault(column: 1, reason: "$\(number) is used, but nothing remembers ?\(number)")
            }
            return template
        } catch {
            throw fault("\(error)")
        }
    }

    mutating func bytes() throws(ControlFault) -> [UInt8] {
        let form = try text("`hex` or `text` is missing")
        var bytes: [UInt8] = []
        switch form {
        case "text": bytes = try next("the text is missing")
        case "hex":
            repeat {
                guard let more = Hexadecimal.bytes(try text("pairs of hexadecimal digits are missing")) else {
                    throw fault("pairs of hexadecimal digits belong here")
                }
                bytes += more
            } while !isAtEnd
        default: throw fault("\(form.debugDescription) is none of hex, text")
        }
        guard !bytes.isEmpty else { throw fault("there is nothing to send") }
        guard bytes.count <= ControlRequest.mostBytes else {
            throw fault("more than \(ControlRequest.mostBytes) bytes")
        }
        return bytes
    }
}
