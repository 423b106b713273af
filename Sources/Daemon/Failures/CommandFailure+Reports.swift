// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Control
import Devices
import HIDHost
package import HIDReports
package import Texts

extension CommandFailure {
    /// Creates the failure for a report map that is refused.
    package init(_ error: ReportMapError) {
        self.init(.inputOutput, HIDFaultText.refused, "\(error.offset)", error.reason.message)
    }
}

extension ReportMapError.Reason {
    var message: Message {
        switch self {
        case .empty: ReportMapText.empty.message()
        case .tooLong: ReportMapText.tooLong.message("\(ReportMap.mostBytes)")
        case .truncatedItem: ReportMapText.truncatedItem.message()
        case .longItem: ReportMapText.longItem.message()
        case .unknownGlobalItem(let tag):
            ReportMapText.unknownGlobalItem.message(Hexadecimal.text(UInt64(tag), digits: 1))
        case .pushOverflow: ReportMapText.pushOverflow.message("\(ReportMap.mostPushes)")
        case .popWithoutPush: ReportMapText.popWithoutPush.message()
        case .reportSize(let size): ReportMapText.reportSize.message("\(size)", "\(ReportMap.mostBitsInSlot)")
        case .reportCount(let count): ReportMapText.reportCount.message("\(count)", "\(ReportMap.mostSlots)")
        case .reportID(let id): ReportMapText.reportID.message("\(id)")
        case .endWithoutCollection: ReportMapText.endWithoutCollection.message()
        case .nestedDelimiter: ReportMapText.nestedDelimiter.message()
        case .closeWithoutDelimiter: ReportMapText.closeWithoutDelimiter.message()
        case .tooManyUsages: ReportMapText.tooManyUsages.message("\(ReportMap.mostUsages)")
        case .logicalRange(let minimum, let maximum): ReportMapText.logicalRange.message("\(minimum)", "\(maximum)")
        case .reportTooLong(let bits): ReportMapText.reportTooLong.message("\(bits)", "\(ReportMap.mostBitsInReport)")
        case .openCollection: ReportMapText.openCollection.message()
        case .openDelimiter: ReportMapText.openDelimiter.message()
        }
    }
}

extension HIDDiscovery.Lack {
    /// Reason why the device cannot be used, for people.
    var failure: CommandFailure {
        switch self {
        case .noInputReport: CommandFailure(.configuration, LinkFaultText.noReports)
        case .noService, .noMap: CommandFailure(.configuration, LinkFaultText.noMap)
        case .noKeyboard(let kinds) where kinds.isEmpty: CommandFailure(.configuration, LinkFaultText.noReports)
        case .noKeyboard(let kinds):
            CommandFailure(
                .configuration,
                LinkFaultText.noKeyboard,
                Message.listed(kinds.map { HIDKindText($0).message() })
            )
        case .badMap(let error, _): CommandFailure(error)
        case .incompleteMap(let error, _):
            error.map { CommandFailure(.inputOutput, LinkFaultText.incompleteMap, "\($0)") }
                ?? CommandFailure(.inputOutput, LinkFaultText.shortMap)
        }
    }
}

extension HIDKindText {
    fileprivate init(_ kind: HIDDeviceKind) {
        self =
            switch kind {
            case .mouse: .mouse
            case .joystick: .joystick
            case .gamepad: .gamepad
            case .consumerControl: .consumerControl
            case .digitizer: .digitizer
            case .other: .other
            }
    }
}
