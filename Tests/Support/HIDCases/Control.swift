// SPDX-License-Identifier: GPL-2.0-or-later

import HIDReports

/// Rule of the parser or the reader that is broken, to show that the comparison with the kernel notices it.
enum Control: String, CaseIterable {
    /// Logical Maximum is signed even if Logical Minimum is not negative.
    case signedMaximum = "signed-maximum"
    /// Usages get the page that is valid before the main item, not at it.
    case earlyPage = "early-page"
    /// Push and Pop are ignored.
    case noStack = "no-stack"
    /// An array with ErrorRollOver releases its keys.
    case rollOver = "roll-over"

    /// Changes the descriptor that the parser gets.
    func changed(_ map: [UInt8]) -> [UInt8] {
        var page: UInt8 = 0
        var isMinimumNegative = false
        var result: [UInt8] = []
        for item in MapMutator.items(of: map).map({ map[$0] }) {
            let (prefix, data) = (item[item.startIndex], item.dropFirst())
            let size = prefix & 3
            switch (self, prefix & 0xFC) {
            case (.signedMaximum, 0x14):
                isMinimumNegative = (data.last ?? 0) >= 0x80
                result += item
            case (.signedMaximum, 0x24) where (data.last ?? 0) >= 0x80 && !isMinimumNegative:
                // A negative maximum would be below the minimum: 0 below 1.
                result += [0x15, 1, 0x25, 0]
            case (.earlyPage, 0x04):
                page = data.first ?? 0
                result += item
            case (.earlyPage, 0x08) where size == 1,
                (.earlyPage, 0x18) where size == 1,
                (.earlyPage, 0x28) where size == 1:
                result += [prefix | 3, data.first ?? 0, 0, page, 0]
            case (.noStack, 0xA4), (.noStack, 0xB4): break
            default: result += item
            }
        }
        return result
    }

    /// Changes the report that the reader gets, without the id byte.
    func changed(_ payload: [UInt8], of report: HIDReport?) -> [UInt8] {
        guard self == .rollOver, let report else { return payload }
        var result = payload
        for field in report.fields where field.isKeyboardField && !field.isVariable {
            guard let value = ReportMaker.value(of: .errorRollOver, in: field) else { continue }
            for slot in 0..<field.count where ReportMaker.get(payload, field, slot) == value {
                ReportMaker.set(&result, field, slot, 0)
            }
        }
        return result
    }
}
