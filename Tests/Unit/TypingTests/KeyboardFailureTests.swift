// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import SystemPackage
import Testing
import Texts
import Typing

@Suite("Messages when the kernel rejects the keyboard")
struct KeyboardFailureTests {
    @Test("D-10: every refusal to make the keyboard has a status and a cause; the usual ones have a remedy")
    func making() {
        let expected: [(Errno, Texts.ExitStatus, String?)] = [
            (.permissionDenied, .permission, "blewedge setup"), (.notPermitted, .permission, "the service"),
            (.noSuchFileOrDirectory, .unavailable, "modprobe uinput"),
            (.operationNotSupportedByDevice, .unavailable, "modprobe uinput"),
            (.invalidArgument, .unavailable, "Linux 4.5"), (.noMemory, .inputOutput, nil),
        ]
        for (error, status, remedy) in expected {
            let failure = KeyboardError.notMade(error).failure
            #expect(failure.status == status && !failure.cause.english.isEmpty)
            #expect(
                failure.remedy.map { $0.english.contains(remedy ?? "\u{0}") } == remedy.map { _ in true },
                "\(error)"
            )
        }
    }

    @Test("D-10: a keyboard that takes no more keys ends with 74, and each known error has its cause and its remedy")
    func writing() {
        let expected: [(Errno, String, String)] = [
            (.operationNotSupportedByDevice, "ENODEV", "automatically"), (.invalidArgument, "EINVAL", "build"),
            (.notPermitted, "EPERM", "DeviceAllow="), (.permissionDenied, "EACCES", "DeviceAllow="),
            (.ioError, "cannot write keys", "dmesg"),
        ]
        var causes: Set<String> = []
        for (error, cause, remedy) in expected {
            let failure = KeyboardError.notWritten(error).failure
            #expect(failure.status == .inputOutput && failure.status.rawValue == 74)
            #expect(
                failure.cause.english.contains(cause) && failure.remedy?.english.contains(remedy) == true,
                "\(error)"
            )
            causes.insert(failure.cause.english)
        }
        #expect(causes.count == expected.count)
    }
}
