// SPDX-License-Identifier: GPL-2.0-or-later

package import SystemPackage
package import Texts

extension CommandFailure {
    /// The failure of a system call at `place`; a missing permission has its own status, and the remedy `fix`.
    package init(
        _ error: Errno,
        else status: ExitStatus,
        _ fault: some FaultText,
        _ place: String,
        fix: RemedyText? = nil
    ) {
        let isForbidden = error == .permissionDenied
        self.init(
            isForbidden ? .permission : status,
            fault,
            place,
            "\(error)",
            remedy: isForbidden ? fix?.message() : nil
        )
    }
}

extension Errno {
    /// True if a permission is missing.
    package var isForbidden: Bool { self == .permissionDenied || self == .notPermitted }

    /// The remedy for a file that cannot be written; nil if none is known.
    package var writingRemedy: Message? {
        switch self {
        case .noSpace: RemedyText.makeRoom.message()
        case .readOnlyFileSystem: RemedyText.makeWritable.message()
        default: nil
        }
    }
}
