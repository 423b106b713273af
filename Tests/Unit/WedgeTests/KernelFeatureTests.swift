// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothPackets
    import Control
    import Daemon
    import Devices
    import Glibc
    import LinuxIO
    import Synchronization
    import TestSupport
    import Testing
    import Texts

    @testable import Setup

    /// Tests kernels that lack features, one by one (Tests/Vectors/kernel-features.txt).
    ///
    /// Each runs in its own process, because the replaced calls and the signals belong to the process. The time is
    /// real, because `VirtualClock` would not use the kernel's timers.
    @Suite("A kernel that lacks something", .timeLimit(.minutes(10)), .enabled(if: Capability.missing.isEmpty))
    struct KernelFeatureTests {
        private static let limit = Duration.seconds(60)
        /// Findings about features that a kernel lacks.
        private static let causes: Set<Finding.Cause> = [
            .kernelUnfit, .kernelLacks, .kernelWithoutBluetooth, .uinputMissing, .evdevMissing,
        ]

        @Test(
            "What the doctor asks the kernel for is what the vectors are about, each with its kernel or its option"
        )
        func features() throws {
            let absences = try KernelAbsence.load()
            #expect(absences.map(\.feature) == KernelFeature.allCases.map(\.rawValue))
            #expect(absences.map(\.since) == KernelFeature.allCases.map(\.since))
        }

        @Test(
            "On a kernel that lacks one thing a keyboard types all the same, or says why not and what mends it",
            arguments: KernelFeature.allCases.indices
        )
        func session(_ index: Int) async {
            await #expect(processExitsWith: .success) { [index = index as Int] in
                let absence = try KernelAbsence.load()[index]
                switch absence.session {
                case .types(let isMet): try KernelFeatureTests.types(absence, isMet: isMet)
                case .refused(let cause): try KernelFeatureTests.isRefused(absence, cause)
                }
            }
        }

        @Test("A keyboard types on a kernel that lacks all at once that it can do without")
        func bare() async {
            await #expect(processExitsWith: .success) {
                let absences = try KernelAbsence.load().filter { if case .types = $0.session { true } else { false } }
                try KernelFeatureTests.types(.all(absences), isMet: true)
            }
        }

        @Test(
            "A controller without extended scanning, which says that it has it, is scanned with the older commands"
        )
        func extendedScanning() async {
            await #expect(processExitsWith: .success) {
                let bench = try CallFaultBench()
                bench.machine.listsExtendedScanning = true
                #expect(try bench.isSteady(within: KernelFeatureTests.limit))
                #expect(bench.machine.extendedCommands > 0)
                #expect(try bench.end())
            }
        }

        @Test(
            "The doctor's table has a row for what the kernel lacks, as the vectors have it, and finds nothing else wrong",
            arguments: KernelFeature.allCases.indices
        )
        func doctor(_ index: Int) async {
            await #expect(processExitsWith: .success) { [index = index as Int] in
                let absences = try KernelAbsence.load()
                try KernelFeatureTests.compare(absences[index], absences)
            }
        }

        @Test("The doctor's table of a kernel that has everything says so in each row, and it has no finding")
        func whole() async {
            await #expect(processExitsWith: .success) {
                try KernelFeatureTests.compare(KernelAbsence("none"), try KernelAbsence.load())
            }
        }

        private static func types(_ absence: KernelAbsence, isMet: Bool) throws {
            let bench = try CallFaultBench(lacking: absence)
            #expect(try bench.isSteady(within: limit), "\(absence.feature): \(bench.daemon.service.device.state)")
            // Sent to this thread, in which the signal is blocked, so that other threads of the test runner do not
            // receive it.
            pthread_kill(pthread_self(), SIGUSR2)
            #expect(try bench.until(limit) { bench.signals == [SIGUSR2] }, "\(absence.feature): no signal")
            // Performs an active scan, after which the daemon types again.
            var list = ""
            bench.daemon.handle(.scan(for: .seconds(1), isAnew: true)) { result in
                list = (try? result.get().text) ?? "refused"
            }
            #expect(try bench.until(limit) { !list.isEmpty })
            #expect(list.contains("\(KernelStandIn.device.address)"), "\(absence.feature): \(list)")
            #expect(try bench.isSteady(within: limit), "\(absence.feature): \(bench.daemon.service.device.state)")
            // Another program selects other devices, one after another.
            for address in [0xF0F1_F2F3_F4F6, 0xF0F1_F2F3_F4F7] as [UInt64] {
                let other = SelectedDevice(DeviceAddress(BluetoothAddress(rawValue: address), .random), name: nil)
                try bench.choices.write(other)
                let isFollowed = try bench.until(limit) { bench.daemon.service.device.choice == .kept(other) }
                #expect(isFollowed, "\(absence.feature): \(address) is not chosen")
            }
            #expect(bench.kernel.isMet == isMet, "\(absence.feature)")
            #expect(try bench.end())
        }

        private static func isRefused(_ absence: KernelAbsence, _ cause: String) throws {
            var found: Reason?
            do {
                let bench = try CallFaultBench(lacking: absence)
                _ = try bench.until(limit) { bench.daemon.service.device.reason != nil }
                found = bench.daemon.service.device.reason
            } catch let failure as CommandFailure {
                found = Reason(failure.cause, remedy: failure.remedy)
            }
            let reason = try #require(found, "\(absence.feature): not refused")
            #expect(reason.cause.english.contains(cause), "\(absence.feature): \(reason.cause.english)")
            #expect(reason.remedy?.english.isEmpty == false, "\(absence.feature): no remedy")
        }

        /// Lets the doctor examine a kernel, and compares its table.
        private static func compare(_ absence: KernelAbsence, _ absences: [KernelAbsence]) throws {
            let sysfs = try TestDirectory()
            for file in Set(absences.flatMap(\.files)).subtracting(absence.files) { try sysfs.write("", to: file) }
            let kernel = KernelStandIn(lacking: absence)
            kernel.begin()
            let machine = try StandInMachine(kernel)
            // Handles the kernel's side while the doctor waits.
            let (path, hasEventNodes) = (sysfs.path, absence.hasEventNodes)
            let answer = Mutex<SystemFacts?>(nil)
            let thread = try SystemThread(name: "doctor") {
                var facts = SystemFacts()
                facts.hasEventNodes = hasEventNodes
                facts.lookAtKernel(sysfs: path)
                answer.withLock { $0 = facts }
            }
            while answer.withLock({ $0 == nil }) { machine.turn() }
            thread.join()
            let facts = try #require(answer.withLock { $0 })
            let expected = absences.map { row in
                let state = absence.unknown.contains(row.feature) ? "unknown" : "present"
                return row.feature == absence.feature
                    ? row.row : #"{"id":"\#(row.feature)","since":"\#(row.since)","state":"\#(state)"}"#
            }
            let table = Doctor.table(facts)
            for (found, wanted) in zip(table, expected) { #expect(found.text == wanted) }
            #expect(table.count == expected.count)
            let findings = Doctor.findings(facts)
            let text = Doctor.object(findings, kernel: table).text
            #expect(text.hasSuffix(#","kernel":[\#(expected.joined(separator: ","))]}"#))
            let told = findings.map(\.cause).filter(causes.contains)
            #expect(told.map(\.rawValue) == (absence.finding.map { [$0] } ?? []), "\(absence.feature)")
            // The findings name the missing feature in both languages.
            if told == [.kernelUnfit] || told == [.kernelLacks] {
                #expect(Doctor.text(findings, .english).contains("lacks \(absence.feature)"))
                #expect(Doctor.text(findings, .japanese).contains("\(absence.feature)がありません"))
            }
        }
    }
#endif
