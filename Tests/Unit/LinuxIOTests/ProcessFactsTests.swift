// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import LinuxIO

@Suite("Facts about this and other processes", .timeLimit(.minutes(5)))
struct ProcessFactsTests {
    @Test("A process's user and arguments are read from the kernel, and an absent process has none")
    func processes() throws {
        #expect(ProcessFacts.user(of: getpid()) == geteuid() && ProcessFacts.user == geteuid())
        #expect(ProcessFacts.number == getpid() && ProcessFacts.user(of: 0x7FFF_FFFF) == nil)
        let proc = try TestDirectory()
        try proc.write("sh\0-c\0\0a b\0", to: "7/cmdline")
        #expect(ProcessEntry.arguments(of: 7, proc: proc.path) == ["sh", "-c", "", "a b", ""])
        #expect(ProcessEntry.arguments(of: 8, proc: proc.path) == [])
        try proc.write("7 (a) S 1 7 7 1025 7 0\n", to: "7/stat")
        try proc.write("9 (b) S 1 7 7 1087 8 0\n", to: "9/stat")
        try proc.write("1 (c) S 1 7 7 1088 7 0\n", to: "self/stat")
        // 4:1 to 4:63 are virtual terminals, 4:64 is ttyS0.
        #expect(
            ProcessEntry.all(proc: proc.path) == [
                ProcessEntry(pid: 7, name: "a", virtualTerminal: 1, isInFront: true),
                ProcessEntry(pid: 9, name: "b", virtualTerminal: 63, isInFront: false),
            ]
        )
        #expect(ProcessEntry(stat: "7 (a) S 1 7 7 1024 7 0")?.virtualTerminal == nil)
        // The minor number's upper bits are above the major number.
        #expect(ProcessEntry(stat: "7 (a) S 1 7 7 1049601 7 0")?.virtualTerminal == nil)
    }

    @Test("An empty environment variable counts as unset; the memory in use is below its peak")
    func environment() async {
        await #expect(processExitsWith: .success) {
            for (value, found) in [("a", "a"), ("", nil)] as [(String, String?)] {
                setenv("BLEWEDGE_X", value, 1)
                #expect(ProcessFacts.environment("BLEWEDGE_X") == found)
            }
            let memory = MemoryUse.now
            #expect(memory.share > 500 && memory.peak > memory.share && memory.peak < 1 << 22)
        }
    }

    @Test("A library is loaded by name with its functions; what is not there is an error with its cause")
    func libraries() throws {
        let library = try LoadedLibrary("libc.so.6")
        typealias Absolute = @convention(c) (Int32) -> Int32
        #expect(unsafeBitCast(try library.function("abs"), to: Absolute.self)(-5) == 5)
        #expect(throws: LoadedLibrary.Failure("it has no function no_such_function")) {
            _ = try library.function("no_such_function")
        }
        do throws(LoadedLibrary.Failure) {
            _ = try LoadedLibrary("libnone.so.1")
            Issue.record("it is loaded")
        } catch {
            #expect(error.reason.contains("libnone.so.1"))
        }
    }

    @Test("A program reads all of its input, and what it has read is known")
    func input() throws {
        let directory = try TestDirectory()
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        let loop = try EventLoop()
        let input = try ChildInput(bytes, on: loop)
        // More than a pipe takes at once.
        #expect(input.read == 0)
        let child = try ChildProcess(
            "sh",
            arguments: ["-c", "head -c 100000 > \"$BLEWEDGE_FOLDER/a\"; cat > \"$BLEWEDGE_FOLDER/b\"; exit 7"],
            environment: [("BLEWEDGE_FOLDER", directory.path)],
            replacing: "BLEWEDGE_",
            input: input
        )
        let registration = try loop.watch(child.descriptor, for: .readable) { _ in loop.stop() }
        try loop.run()
        loop.unwatch(registration, child.descriptor)
        #expect(child.takeEnd() == .exited(7) && input.read == 200_000)
        let parts = try ["a", "b"].flatMap { try FileSystem.contents(of: directory($0), limit: 1 << 20) }
        #expect(parts == bytes)
        // A program that reads nothing: the input is closed, and nothing waits.
        let ignored = try ChildInput(bytes, on: loop)
        ignored.close()
        #expect(ignored.read == 0)
    }

    #if DEBUG
        @Test("Each feature of the kernel is probed by its own call, whose error is returned")
        func probes() {
            let calls: [(KernelProbe.Call, CallSite)] = [
                (.processDescriptor, CallSite(.file, .pidfdOpen)), (.systemCallFilter, CallSite(.file, .prctl)),
                (.epoll, CallSite(.loop, .epollCreate)), (.timer, CallSite(.loop, .timerfdCreate)),
                (.eventCount, CallSite(.loop, .eventfd)), (.signals, CallSite(.loop, .signalfd)),
                (.directoryChanges, CallSite(.loop, .inotifyInit)),
            ]
            #expect(calls.map(\.0) == KernelProbe.Call.allCases)
            defer { CallScript.use(nil) }
            for (call, site) in calls {
                CallScript.use(nil)
                #expect(KernelProbe.fault(of: call) == nil, "\(call)")
                for error in [Errno.noFunction, .ioError] {
                    CallScript.use { $0.kind == site.kind && $0.call == site.call ? .error(error) : nil }
                    #expect(KernelProbe.fault(of: call) == error, "\(call)")
                }
            }
            let options: [(KernelProbe.Option, CallKind, CallSite.Call, Int32)] = [
                (.memory, .link, .getsockopt, SO_MEMINFO), (.overflow, .link, .setsockopt, SO_RXQ_OVFL),
                (.times, .hci, .setsockopt, SO_TIMESTAMP),
            ]
            #expect(options.map(\.0) == KernelProbe.Option.allCases)
            for (option, kind, call, number) in options {
                for error in [nil, Errno.protocolNotAvailable] {
                    CallScript.use { site in
                        guard site.kind == kind else { return nil }
                        if site.call == .socket { return .result(socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)) }
                        return site.call == call && site.option == number ? error.map { .error($0) } : nil
                    }
                    #expect(KernelProbe.fault(of: option) == error, "\(option)")
                }
            }
            CallScript.use { $0.call == .prctl ? .error(.permissionDenied) : nil }
            #expect(KernelProbe.fault(of: .systemCallFilter) == nil)
            CallScript.use { $0.call == .socket ? .error(.addressFamilyNotSupported) : nil }
            #expect(KernelProbe.fault(of: .memory) == .addressFamilyNotSupported)
            #expect(DeviceProbe.bluetoothFault() == .addressFamilyNotSupported)
            CallScript.use { $0.call == .socket ? .result(dup(0)) : $0.call == .bind ? .result(0) : nil }
            #expect(DeviceProbe.bluetoothFault() == nil)
            CallScript.use { $0.call == .open ? .error(.operationNotSupportedByDevice) : nil }
            #expect(DeviceProbe.uinputFault() == .operationNotSupportedByDevice)
            CallScript.use { $0.call == .open ? .result(dup(0)) : nil }
            #expect(DeviceProbe.uinputFault() == nil)
        }

        @Test("A virtual keyboard is made by these requests in this order, and an error of any of them is passed on")
        func keyboard() throws {
            let requests: [(UInt32, Int)] = [
                // EV_KEY and two keys, EV_REL and two axes, EV_LED and CapsLock, the identity, creation (linux/uinput.h).
                (0x4004_5564, 1), (0x4004_5565, 2), (0x4004_5564, 1), (0x4004_5566, 2), (0x4004_5564, 1),
                (0x4004_5569, 1), (0x405C_5503, 1), (0x5501, 1),
            ]
            let expected = requests.flatMap { Array(repeating: Int32(bitPattern: $0), count: $1) }
            func make(axes: [UInt16], light: Bool, failing place: Int? = nil) throws -> [Int32] {
                nonisolated(unsafe) var found: [Int32] = []
                CallScript.use { site in
                    guard site.kind == .keyboard else { return nil }
                    if site.call == .open { return .result(open("/dev/null", O_RDWR)) }
                    guard let option = site.option else { return .error(.invalidArgument) }
                    found.append(option)
                    return found.count - 1 == place ? .error(.noMemory) : .result(0)
                }
                defer { CallScript.use(nil) }
                let device = try UInputDevice(name: "n", keyCodes: [30, 48], axes: axes, hasCapsLockLight: light)
                let node = device.eventNode
                #expect(node == nil)
                return found
            }
            #expect(try make(axes: [0, 1], light: true) == expected)
            #expect(try make(axes: [], light: false) == expected.prefix(3) + expected.suffix(2))
            for place in expected.indices {
                #expect(throws: Errno.noMemory) { _ = try make(axes: [0, 1], light: true, failing: place) }
            }
            CallScript.use { site in
                switch (site.kind, site.call) {
                case (.keyboard, .open): .result(open("/dev/null", O_RDWR))
                case (.keyboard, .ioctl): .result(0)
                case (.keyboard, .write): .error(.wouldBlock)
                default: nil
                }
            }
            defer { CallScript.use(nil) }
            let device = try UInputDevice(name: "n", keyCodes: [30], axes: [])
            let bytes: [UInt8] = [0]
            #expect(throws: Errno.wouldBlock) { _ = try device.write(bytes.span.bytes) }
        }
    #endif

    @Test("An event node's events are read up to the last whole one, and no events are not an end")
    func events() throws {
        let directory = try TestDirectory()
        mkfifo(directory("event"), 0o600)
        var node = try EventNode(directory("event"))
        let writer = open(directory("event"), O_WRONLY)
        defer { close(writer) }
        var events: [EventNode.Event] = []
        #expect(try !node.read(into: &events))
        let time = [UInt8](repeating: 9, count: 16)
        let bytes =
            time + [1, 0, 30, 0, 1, 0, 0, 0] + time + [0x11, 0, 1, 0, 0, 0, 0, 0] + time + [0, 0, 3, 0, 0, 0, 0, 0]
        #expect(write(writer, bytes + [1, 2, 3], bytes.count + 3) == bytes.count + 3)
        #expect(try node.read(into: &events))
        #expect(
            events.map(\.type) == [1, 0x11, 0] && events.map(\.code) == [30, 1, 3] && events.map(\.value) == [1, 0, 0]
        )
        #expect(events.map(\.isLight) == [false, true, false] && events[2] == .dropped)
        #expect(EventNode.Event.report == EventNode.Event(type: 0, code: 0, value: 0))
        #expect(try !node.read(into: &events) && events.count == 3)
    }
}
