// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
import LinuxIO
package import SystemPackage
package import Texts

extension BondStore.Contents {
    /// What people are told of the file: what was skipped, and what others could read.
    package func notes(_ path: FilePath) -> [Message] {
        var notes = tightened.map { BondText.tightened.message("\($0)") }
        if !brokenLines.isEmpty {
            let lines = brokenLines.map { "\($0)" }.joined(separator: ", ")
            notes.append(BondText.brokenLines.message("\(path)", "\(brokenLines.count)", lines))
        }
        return notes
    }
}

extension CommandFailure {
    /// The bonds could not be read or kept.
    package init(_ failure: BondStore.Failure) {
        switch failure {
        case .foreign(let path):
            self.init(.permission, BondFaultText.foreign, "\(path)", "\(path.removingLastComponent())")
        case .irregular(let path): self.init(.permission, BondFaultText.irregular, "\(path)")
        case .unreadable(let path, let error), .unwritable(let path, let error):
            if error.recovery(of: .file) == .forbidden {
                let directory = "\(path.removingLastComponent())"
                self.init(.permission, BondFaultText.notPermitted, "\(path)", directory)
                return
            }
            let isReading = failure == .unreadable(path, error)
            let remedy: RemedyText? =
                switch error {
                case .noSpace: .makeRoom
                case .readOnlyFileSystem: .makeWritable
                default: nil
                }
            self.init(
                .inputOutput,
                isReading ? BondFaultText.unreadable : .notKept,
                "\(path)",
                "\(error)",
                remedy: remedy?.message()
            )
        case .known(let device): self.init(.usage, BondFaultText.known, "\(device)", "\(device.address)")
        case .full: self.init(.unavailable, BondFaultText.full, "\(BondStore.mostBonds)")
        case .locked(let lock, let process, let signal):
            self.init(lock: "\(lock)", heldBy: process, signal: signal)
        }
    }

    /// A pairing gave no bond.
    package init(_ failure: ManagedPairing.Failure, of device: DeviceAddress, within limit: Duration) {
        switch failure {
        case .refused(let opcode, .permissionDenied):
            self.init(.permission, AdapterFaultText.refused, "\(opcode)", "\(ManagementStatus.permissionDenied)")
        case .refused(let opcode, let status):
            self.init(.unavailable, AdapterFaultText.refused, "\(opcode)", "\(status)")
        case .notReached(let status): self.init(.inputOutput, BondFaultText.notReached, "\(status)")
        case .keyTooShort: self.init(.permission, BondFaultText.keyTooShort)
        case .legacy: self.init(.permission, BondFaultText.legacyOnly)
        case .disagreed: self.init(.inputOutput, BondFaultText.disagreed)
        case .alreadyPaired: self.init(.usage, BondFaultText.knownToKernel, "\(device.address)")
        case .declined: self.init(.usage, BondFaultText.declined)
        case .cancelled: self.init(.timeout, BondFaultText.notInTime, "\(limit.components.seconds)")
        case .notBonded: self.init(.inputOutput, BondFaultText.notBonded)
        case .tooWeak(let security):
            let level: BondText = security.level == .authenticated ? .authenticated : .encrypted
            self.init(.permission, BondFaultText.tooWeak, level.message(), "\(security.keySize)")
        }
    }
}
