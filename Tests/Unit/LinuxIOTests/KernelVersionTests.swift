// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import Testing

@Suite("The kernel's version")
struct KernelVersionTests {
    @Test(
        "Debian's version is in the build, others' in the release",
        arguments: [
            ("6.1.0-56-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-16)", 192, "6.1.192-2"),
            ("6.1.0-rpi8-rpi-v8", "#1 SMP PREEMPT Debian 1:6.1.73-1+rpt1 (2024-01-25)", 73, "6.1.73-1+rpt1"),
            ("6.1.0-1036-oem", "#36-Ubuntu SMP PREEMPT_DYNAMIC Mon Nov  2 10:00:00 UTC 2026", nil, "6.1.0-1036-oem"),
            ("6.1.192", "#1 SMP Mon Nov  2 10:00:00 UTC 2026", 192, "6.1.192"),
            ("6.1.21-v8+", "#1642 SMP PREEMPT Mon Apr  3 17:24:16 BST 2023", 21, "6.1.21-v8+"),
            ("6.1.0", "#1 SMP", 0, "6.1.0"),
            // The build string names another kernel, or no version.
            ("6.1.192", "#1 Debian 6.12.118-1", 192, "6.1.192"),
            ("6.1.192", "#1 Debian", 192, "6.1.192"),
            ("6.1.192", "#1 Debian :", 192, "6.1.192"),
            ("6.1-custom", "", nil, "6.1-custom"),
        ] as [(String, String, Int?, String)]
    )
    func reading(release: String, build: String, patch: Int?, text: String) throws {
        let version = try #require(KernelVersion(release: release, build: build))
        #expect(version.major == 6 && version.minor == 1)
        #expect(version.patch == patch && version.text == text)
    }

    @Test("a text without two numbers is no version", arguments: ["", "6", "six.one", ".1.2", "\(UInt64.max).1"])
    func nothing(release: String) {
        #expect(KernelVersion(release: release, build: "#1 Debian 6.1.192-2") == nil)
    }

    @Test("the running kernel has one")
    func running() throws {
        let version = try #require(KernelVersion.running)
        #expect(version.major > 2)
    }
}
