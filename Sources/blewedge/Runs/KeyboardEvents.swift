// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothPackets
import Control
import Daemon
import LinuxIO
import SystemPackage
import Texts

/// Reports the events of a keyboard to programs: to a stream on standard output, and to a hook (CB-30).
///
/// Both report the link and the amount of received data; only the hook receives the data itself, on its standard input.
/// Use it on the event loop's thread.
final class KeyboardEvents {
    private let hook: HookRunner?
    private let isStream: Bool
    /// Name of the device in the configuration; nil for the only device.
    private let name: String?
    private var device: DeviceAddress?
    private var isConnected = false
    private var missed = 0

    /// Creates an object that reports to a stream, to a hook, or to both.
    init(isStream: Bool, hook: HookRunner?, name: String? = nil) {
        self.isStream = isStream
        self.name = name
        self.hook = hook
        hook?.notice = { [unowned self] in HookNotice(.received, device: device, name: name) }
    }

    func take(_ state: Session.State, _ device: DeviceAddress?, _ reason: String?) {
        if state == .connected, !isConnected {
            self.device = device
            isConnected = true
            tell(HookNotice(.connect, device: device, name: name))
        } else if state != .connected {
            disconnected(reason)
        }
    }

    /// Reports, on the stream, the amount of data received since the last report.
    ///
    /// The hook is run for barcodes instead.
    func received(_ report: ReceivedMeter.Report) {
        print(HookNotice(.received, count: report.values, length: report.bytes, device: device, name: name))
    }

    /// Reports to the hook that a region was entered or left.
    func take(_ notice: RegionWatch.Notice, _ keyCode: String?) {
        var told = HookNotice(notice.change == .left ? .beaconLeft : .beaconEntered)
        told.beacon = .init(region: "\(notice.region)", identity: "\(notice.beacon)", keyCode: keyCode)
        hook?.add(told)
    }

    /// Reports that the link has ended, because the program ends, and calls `completion` when the hook has finished.
    func finish(completion: @escaping () -> Void) {
        disconnected(nil)
        if let hook { hook.drain(completion: completion) } else { completion() }
    }

    /// Last error of a write to standard output; nil if there was none.
    private(set) var fault: Errno?

    /// Prints a line, or counts it as missing if the program that reads the stream is too slow.
    ///
    /// The next line that is printed reports the number of missing lines.
    func print(_ object: JSONObject) {
        do throws(Errno) {
            if missed > 0 {
                guard try StandardStream.output.writeAtOnce(Self.missed(missed).text + "\n") else {
                    missed &+= 1
                    return
                }
                missed = 0
            }
            if try !StandardStream.output.writeAtOnce(object.text + "\n") { missed &+= 1 }
        } catch {
            // Store the error, but continue: an output error does not stop the keyboard.
            fault = error
        }
    }

    /// Returns a line that reports how many lines are missing before it.
    static func missed(_ count: Int) -> JSONObject {
        var notice = JSONObject()
        notice.add("event", "missed")
        notice.add("lines", count)
        return notice
    }

    private func disconnected(_ reason: String?) {
        guard isConnected else { return }
        isConnected = false
        tell(HookNotice(.disconnect, device: device, name: name, reason: reason))
    }

    private func tell(_ notice: HookNotice) {
        hook?.add(notice)
        print(notice)
    }

    private func print(_ notice: HookNotice) {
        guard isStream else { return }
        var object = JSONObject()
        object.add("event", notice.occasion.rawValue)
        object.add("name", notice.name)
        object.add("address", notice.device.map { "\($0.address)" })
        object.add("addressType", notice.device.map { "\($0.type)" })
        if notice.occasion == .received {
            object.add("notifications", notice.count)
            object.add("bytes", notice.length)
            // Former name of `bytes`, for existing programs.
            object.add("length", notice.length)
        }
        object.add("reason", notice.reason)
        print(object)
    }
}
