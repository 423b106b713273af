// SPDX-License-Identifier: GPL-2.0-or-later

package import HIDReports

/// Refusal of the text of a kept HID device, with the word and the reason.
package struct HIDRecordFault: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// Longer than `HIDDevice.longestRecord`.
        case tooLong
        /// The record is of a version other than 1.
        case unknownVersion
        case unknownWord
        /// A number is missing, too large or not hexadecimal, or there are too many.
        case invalidNumbers
        /// A handle is not above the one before it, or outside its service.
        case handleOutOfOrder
        case tooManyServices
        case tooManyReports
        /// The configuration descriptor of a report that is not an input report.
        case misplacedConfiguration
        case map(ReportMapError)
        /// A service ends without a report map.
        case noMap
        case noService
        /// The words are valid, but are not those that `HIDDevice.record` produces.
        case notCanonical
    }

    /// Position of the refused word in bytes; the length of the text for a refusal at its end.
    package var offset: Int
    package var reason: Reason

    package init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }
}
