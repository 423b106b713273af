// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import Testing
import Texts

@testable import Setup

/// Returns a Debian kernel with this release and version.
func debian(_ release: String, _ version: String) -> KernelVersion? {
    KernelVersion(release: release, build: "#1 SMP PREEMPT_DYNAMIC Debian \(version) (2026-11-16)")
}

@Suite("The doctor on kernels with a known fault")
struct DoctorKernelTests {
    @Test(
        "The double free of a channel is named by the kernel's version, and not where the kernel's channels are not used",
        arguments: [
            (debian("6.1.0-50-amd64", "6.1.176-1"), nil),
            (debian("6.1.0-54-amd64", "6.1.190-1"), nil),
            (debian("6.1.0-56-amd64", "6.1.192-2"), Finding.Cause.kernelQuirk),
            (debian("6.1.0-58-arm64", "6.1.200-1"), .kernelQuirkPossible),
            (debian("6.12.118+deb13-amd64", "6.12.118-1"), nil),
            (nil, nil),
        ] as [(KernelVersion?, Finding.Cause?)]
    )
    func channelFault(version: KernelVersion?, cause: Finding.Cause?) throws {
        var facts = try healthy()
        facts.kernelVersion = version
        let findings = Doctor.findings(facts)
        #expect(findings.map(\.cause) == (cause.map { [$0] } ?? []))
        for finding in findings {
            let name = try #require(version).text
            #expect(finding.what.english.contains("Linux \(name) "))
            #expect(finding.what.text(.japanese).contains("Linux \(name) "))
            #expect(finding.remedy.english.contains("user:hci0"))
            #expect(finding.remedy.text(.japanese).contains("user:hci0"))
        }
        facts.usesKernelChannels = false
        #expect(Doctor.findings(facts).isEmpty)
    }

    @Test("The controller that a daemon has over the user channel is not taken by another program")
    func ownController() throws {
        var facts = try healthy()
        facts.adapters = []
        facts.takenControllers = ["hci0"]
        #expect(Doctor.findings(facts).map(\.cause) == [.adapterTaken])
        facts.usesKernelChannels = false
        #expect(Doctor.findings(facts).isEmpty)
        facts.daemon = .none
        #expect(Doctor.findings(facts).map(\.cause).contains(.adapterTaken))
    }
}
