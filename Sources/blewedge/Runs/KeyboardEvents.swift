// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothLE
import Control
import Daemon
import LinuxIO
import SystemPackage
import Texts

/// The events of a keyboard for programs: a stream on standard output, and a command that is run (CB-30).
///
/// Both tell of the link and of how much was received, never of what. To be used on the event loop's thread.
final class KeyboardEvents {
    private let hook: HookRunner?
    private let isStream: Bool
    private var device: DeviceAddress?
    private var isConnected = false
    private var missed = 0

    /// Events for a stream, a command, or both.
    init(isStream: Bool, hook: HookRunner?) {
        self.isStream = isStream
        self.hook = hook
    }

    func take(_ state: Session.State, _ device: DeviceAddress?, _ reason: String?) {
        if state == .connected, !isConnected {
            self.device = device
            isConnected = true
            tell(HookNotice(.connect, device: device))
        } else if state != .connected {
            disconnected(reason)
        }
    }

    /// Takes what was received since the last report.
    func received(_ report: ReceivedMeter.Report) {
        tell(HookNotice(.received, count: report.values, length: report.bytes, device: device))
    }

    /// Takes the entry or the exit of a region that the hook is told of.
    func take(_ notice: RegionWatch.Notice, _ keyCode: String?) {
        var told = HookNotice(notice.change == .left ? .beaconLeft : .beaconEntered)
        told.beacon = .init(region: "\(notice.region)", identity: "\(notice.beacon)", keyCode: keyCode)
        hook?.add(told)
    }

    /// Tells of the link's end where it ends with the program, and calls `completion` when the command has heard of it.
    func finish(completion: @escaping () -> Void) {
        disconnected(nil)
        if let hook { hook.drain(completion: completion) } else { completion() }
    }

    /// The last error of a write to standard output; nil for none.
    private(set) var fault: Errno?

    /// Prints a line, unless its reader is too far behind: then the next line says how many are missing.
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
            // It does not stop a keyboard.
            fault = error
        }
    }

    /// The line that tells how many lines are missing before it.
    static func missed(_ count: Int) -> JSONObject {
        var notice = JSONObject()
        notice.add("event", "missed")
        notice.add("lines", count)
        return notice
    }

    private func disconnected(_ reason: String?) {
        guard isConnected else { return }
        isConnected = false
        tell(HookNotice(.disconnect, device: device, reason: reason))
    }

    private func tell(_ notice: HookNotice) {
        hook?.add(notice)
        guard isStream else { return }
        var object = JSONObject()
        object.add("event", notice.occasion.rawValue)
        object.add("address", notice.device.map { "\($0.address)" })
        object.add("addressType", notice.device.map { "\($0.type)" })
        if notice.occasion == .received {
            object.add("notifications", notice.count)
            object.add("length", notice.length)
        }
        object.add("reason", notice.reason)
        print(object)
    }
}
