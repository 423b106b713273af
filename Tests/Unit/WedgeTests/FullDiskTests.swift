// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts

/// The file size limit applies to the whole process, so no other test may run at the same time.
@Suite("A full disk", .timeLimit(.minutes(10)))
struct FullDiskTests {
    private static func bond(_ number: UInt8) throws -> Bond {
        let key = LongTermKey(
            (0..<16).map { $0 + number },
            isAuthenticated: false,
            isSecureConnections: true,
            role: .central
        )
        let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F400 + UInt64(number)), .random)
        return try #require(
            Bond(
                identityAddress: device,
                localAddress: BluetoothAddress(rawValue: 0x00AA_0100_0042),
                longTermKeys: [key].compactMap(\.self),
                identityResolvingKey: nil
            )
        )
    }

    @Test("A disk that is full leaves the old file of keys whole, and is said as such")
    func keys() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let store = BondStore(FilePath(directory.path).appending("bonds"))
            try store.add(Self.bond(1))
            let before = try FileSystem.contents(of: store.path.string, limit: 1 << 16)
            // The kernel refuses to extend the file beyond this size, as on a full disk.
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit()
            #expect(getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            limit.rlim_cur = 64
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let failure = Result { try store.add(Self.bond(2)) }
            guard case .failure(let error as BondStore.Failure) = failure else {
                Issue.record("a file beyond the limit was written")
                return
            }
            #expect(error == .file(.unwritable(store.path, .fileTooLarge)))
            #expect(try FileSystem.contents(of: store.path.string, limit: 1 << 16) == before)
            #expect(try store.read().bonds == [try Self.bond(1)])
            let full = CommandFailure(BondStore.Failure.file(.unwritable(store.path, .noSpace)))
            #expect(full.status == .inputOutput && full.remedy == RemedyText.makeRoom.message())
        }
    }
}
