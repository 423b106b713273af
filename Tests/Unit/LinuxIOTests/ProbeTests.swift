// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing

@Suite("Probes of the doctor")
struct ProbeTests {
    @Test(
        "X-6: name, terminal and foreground state of a program are parsed from its stat line, whatever its name contains"
    )
    func stat() throws {
        let prompt = try #require(ProcessEntry(stat: "31 (agetty) S 1 31 31 1025 31 4194304 1 2 3"))
        #expect(prompt == ProcessEntry(pid: 31, name: "agetty", virtualTerminal: 1, isInFront: true))
        let shellBehind = try #require(ProcessEntry(stat: "40 (login) S 1 40 40 1026 55 4194304"))
        #expect(shellBehind == ProcessEntry(pid: 40, name: "login", virtualTerminal: 2, isInFront: false))
        let hostile = try #require(ProcessEntry(stat: "7 (a) S 1 (b) R 1 7 7 34816 7 0"))
        #expect(hostile == ProcessEntry(pid: 7, name: "a) S 1 (b", virtualTerminal: nil, isInFront: true))
        // ttyS0 is 4:64, which is not a virtual terminal.
        #expect(ProcessEntry(stat: "8 (getty) S 1 8 8 1088 8 0")?.virtualTerminal == nil)
    }

    @Test("Every cut of a stat line is refused or read, and none stops the program")
    func cutStat() {
        let whole = "31 (agetty) S 1 31 31 1025 31"
        for length in 0..<whole.count {
            let entry = ProcessEntry(stat: String(whole.prefix(length)))
            #expect(entry == nil || entry?.pid == 31)
        }
        #expect(ProcessEntry(stat: "99999999999 (x) S 1 1 1 1025 1") == nil)
        #expect(ProcessEntry(stat: ")(") == nil)
    }

    @Test("X-6: the list of running processes contains this one, with its own name")
    func ownProcess() throws {
        let own = try #require(ProcessEntry.all().first { $0.pid == getpid() })
        #expect(FileSystem.line(of: "/proc/self/comm") == own.name)
    }

    @Test(
        "X-6: controllers on a UART are known by device tree or ACPI, with and without a driver; other devices are not"
    )
    func serialDevices() throws {
        let sysfs = try TestDirectory()
        let devices = "bus/serial/devices"
        try sysfs.write("of:NbluetoothT(null)Cbrcm,bcm43438-bt\n", to: "\(devices)/serial0-0/modalias")
        try sysfs.write("acpi:BCM2E7E:\n", to: "\(devices)/serial1-0/modalias")
        try sysfs.write("", to: "\(devices)/serial1-0/driver/module")
        try sysfs.write("of:NgnssT(null)Cu-blox,neo-8\n", to: "\(devices)/serial2-0/modalias")
        let found = SerialDevice.bluetoothControllers(sysfs: sysfs.path)
        #expect(found.map(\.name) == ["serial0-0", "serial1-0"])
        #expect(found.map(\.hasDriver) == [false, true])
        #expect(SerialDevice.bluetoothControllers(sysfs: sysfs.path + "/none").isEmpty)
    }

    @Test("X-6: a module is reported as loaded, built in, loadable, absent or unknown")
    func modules() throws {
        let folder = try TestDirectory()
        try folder.write("", to: "sys/module/uinput/refcnt")
        let state = { name in ModuleState(name, sysfs: folder.path + "/sys", modules: folder.path + "/modules") }
        #expect(state("uinput") == .loaded)
        #expect(state("evdev") == .unknown)
        try folder.write(
            "kernel/drivers/input/evdev.ko.xz:\nkernel/drivers/bluetooth/hci-uart.ko: kernel/net/bluetooth/bluetooth.ko\n",
            to: "modules/modules.dep"
        )
        try folder.write("kernel/net/rfkill/rfkill.ko\n", to: "modules/modules.builtin")
        #expect(state("evdev") == .loadable)
        #expect(state("hci_uart") == .loadable)
        #expect(state("rfkill") == .loaded)
        #expect(state("bluetooth") == .absent)
        #expect(state("uhid") == .absent)
    }

    @Test("X-6: keyboards get event nodes if the kernel lists the handler, or has no list")
    func eventNodes() throws {
        let proc = try TestDirectory()
        #expect(DeviceProbe.hasEventNodes(proc: proc.path))
        try proc.write("N: Number=0 Name=kbd\nN: Number=1 Name=evdev Minor=64\n", to: "bus/input/handlers")
        #expect(DeviceProbe.hasEventNodes(proc: proc.path))
        try proc.write("N: Number=0 Name=kbd\n", to: "bus/input/handlers")
        #expect(!DeviceProbe.hasEventNodes(proc: proc.path))
    }

    @Test("A file that is not there, and one that is, are told apart")
    func reading() {
        #expect(DeviceProbe.readingFault("/proc/self/stat") == nil)
        #expect(DeviceProbe.readingFault("/proc/self/none") == .noSuchFileOrDirectory)
        #expect(FileSystem.owner(of: "/proc/self") == geteuid())
        #expect(FileSystem.owner(of: "/proc/none") == nil)
    }
}
