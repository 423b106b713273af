// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import Devices
import Texts

// Conversion between beacon requests and words.

extension BeaconRequest {
    /// Words after `beacons` in the line for this request.
    var words: [String] {
        switch self {
        case .status: ["status"]
        case .regions: ["regions"]
        case .watch(let group, let options): ["watch", group.rawValue] + options.words
        case .unwatch(let group): ["unwatch", group.rawValue]
        case .range(let place, let seconds, let withoutDesignated):
            ["range", place.word, "\(seconds)"] + (withoutDesignated ? ["without-designated"] : [])
        case .designate(let codes, let region, let options):
            ["designate"] + codes.map { ControlLine.written($0.utf8) } + (region.map { ["region", "\($0)"] } ?? [])
                + options.words
        case .designated: ["designated"]
        case .update(let codes, let isSwitcher):
            ["update"] + codes.map { ControlLine.written($0.utf8) } + ["switcher", isSwitcher ? "on" : "off"]
        case .release(let code): ["release", ControlLine.written(code.utf8)]
        case .advertise(let frame):
            ["advertise", "\(frame.identity)", frame.format.rawValue] + (frame.measuredPower.map { ["\($0)"] } ?? [])
        case .stopAdvertising: ["advertise", "off"]
        case .clear: ["clear"]
        case .contact(let region, let result): ["contact", "\(region)", result.rawValue]
        }
    }
}

extension BeaconRequest.Place {
    /// Word for the place in a line: `static`, `dynamic`, or the text of the region.
    package var word: String {
        switch self {
        case .statics: "static"
        case .dynamics: "dynamic"
        case .region(let region): "\(region)"
        }
    }

    package init?(_ word: String) {
        switch word {
        case "static": self = .statics
        case "dynamic": self = .dynamics
        default:
            guard let region = BeaconRegion(word) else { return nil }
            self = .region(region)
        }
    }
}

extension WatchOptions {
    /// Words of the options; `quiet` if there are none.
    var words: [String] {
        isEmpty ? [Self.quiet] : Self.named.filter { contains($0.option) }.map(\.word)
    }

    fileprivate static let quiet = "quiet"
}

extension RequestScanner {
    private static let verbs = [
        "status", "regions", "watch", "unwatch", "range", "designate", "designated", "update", "release", "advertise",
        "clear", "contact",
    ]

    /// Parses the request after the word `beacons`.
    mutating func beacons() throws(ControlFault) -> BeaconRequest {
        let known = "known are \(Self.verbs.joined(separator: ", "))"
        let verb = try text("a request about beacons is missing; \(known)")
        switch verb {
        case "status": return .status
        case "regions": return .regions
        case "watch": return .watch(try group(), try options())
        case "unwatch": return .unwatch(try group())
        case "range": return try range()
        case "designate": return try designate()
        case "designated": return .designated
        case "update": return try update()
        case "release": return .release(try text("a key code is missing"))
        case "advertise": return try advertise()
        case "clear": return .clear
        case "contact": return try contact()
        default: throw fault("\(verb.debugDescription) is no request about beacons; \(known)")
        }
    }

    private mutating func contact() throws(ControlFault) -> BeaconRequest {
        guard let region = BeaconRegion(try text("a region is missing")) else { throw fault("a region belongs here") }
        let results = ContactResult.allCases.map(\.rawValue).joined(separator: ", ")
        guard let result = ContactResult(rawValue: try text("one of \(results) is missing")) else {
            throw fault("one of \(results) belongs here")
        }
        return .contact(region, result)
    }

    private mutating func group() throws(ControlFault) -> BeaconMonitor.Group {
        let groups = BeaconMonitor.Group.allCases.map(\.rawValue).joined(separator: ", ")
        guard let group = BeaconMonitor.Group(rawValue: try text("one of \(groups) is missing")) else {
            throw fault("one of \(groups) belongs here")
        }
        return group
    }

    /// Parses options up to the end of the line; if there are none, returns the options for entry and exit.
    private mutating func options() throws(ControlFault) -> WatchOptions {
        guard !isAtEnd else { return .usual }
        var options: WatchOptions = []
        repeat {
            let word = try text("")
            if word == WatchOptions.quiet { continue }
            guard let option = WatchOptions.named.first(where: { $0.word == word })?.option else {
                throw fault("one of \(WatchOptions.named.map(\.word).joined(separator: ", ")) belongs here")
            }
            options.insert(option)
        } while !isAtEnd
        return options
    }

    private mutating func range() throws(ControlFault) -> BeaconRequest {
        let wanted = "static, dynamic, or a region belongs here"
        guard let place = BeaconRequest.Place(try text(wanted)) else { throw fault(wanted) }
        let seconds = try seconds(BeaconRequest.rangeTimes, usual: BeaconRequest.usualRangeTime)
        guard !isAtEnd else { return .range(place, seconds: seconds, withoutDesignated: false) }
        guard try text("") == "without-designated" else { throw fault("only `without-designated` may follow") }
        return .range(place, seconds: seconds, withoutDesignated: true)
    }

    private mutating func designate() throws(ControlFault) -> BeaconRequest {
        var codes: [String] = []
        var region: BeaconRegion?
        while !isAtEnd {
            let word = try text("")
            if word == "region" {
                let wanted = "a region is missing"
                guard let named = BeaconRegion(try text(wanted)) else { throw fault("a region belongs here") }
                region = named
                return .designate(codes, in: region, try options())
            }
            if let option = WatchOptions.named.first(where: { $0.word == word })?.option {
                let more = isAtEnd ? [] : try options()
                return .designate(codes, in: region, more.union(option))
            }
            if word == WatchOptions.quiet, isAtEnd { return .designate(codes, in: region, []) }
            guard codes.count < BeaconRequest.mostCodes else {
                throw fault("more than \(BeaconRequest.mostCodes) key codes")
            }
            codes.append(word)
        }
        return .designate(codes, in: region, .usual)
    }

    private mutating func update() throws(ControlFault) -> BeaconRequest {
        var codes: [String] = []
        while true {
            let word = try text("`switcher on` or `switcher off` is missing")
            if word == "switcher" { break }
            guard codes.count < BeaconRequest.mostCodes else {
                throw fault("more than \(BeaconRequest.mostCodes) key codes")
            }
            codes.append(word)
        }
        guard !codes.isEmpty else { throw fault("a key code belongs before it") }
        switch try text("`on` or `off` is missing") {
        case "on": return .update(codes, isSwitcher: true)
        case "off": return .update(codes, isSwitcher: false)
        default: throw fault("`on` or `off` belongs here")
        }
    }

    private mutating func advertise() throws(ControlFault) -> BeaconRequest {
        let wanted = "`off`, or a beacon belongs here: UUID/MAJOR/MINOR or eddystone:NAMESPACE/INSTANCE"
        let word = try text(wanted)
        if word == "off" { return .stopAdvertising }
        guard let identity = BeaconIdentity(word) else { throw fault(wanted) }
        var format: BeaconFrame.Format = identity.segment == nil ? .eddystone : .iBeacon
        if !isAtEnd {
            let formats = BeaconFrame.Format.allCases.map(\.rawValue).joined(separator: ", ")
            guard let named = BeaconFrame.Format(rawValue: try text("")) else {
                throw fault("one of \(formats) belongs here")
            }
            format = named
        }
        var power: Int8?
        if !isAtEnd {
            let powers = BeaconFrame.measuredPowers
            guard let number = Int8(try text("")), powers.contains(number) else {
                throw fault("a power in dBm from \(powers.lowerBound) to \(powers.upperBound) belongs here")
            }
            power = number
        }
        guard let frame = BeaconFrame(format, identity, measuredPower: power) else {
            throw fault("\(format.rawValue) cannot carry this beacon")
        }
        return .advertise(frame)
    }
}
