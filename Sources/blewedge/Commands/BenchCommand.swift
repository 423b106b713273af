// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Configuration
import Control
import Daemon
import Devices
import Keystrokes
import LinuxIO
import Measuring
import Texts

struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure the speed of blewedge, and compare it with the speed of C code.",
        usage: "blewedge bench [<options>]",
        discussion: """
            Each line shows the speed of blewedge, and its ratio to the speed of C code that runs immediately before \
            and after. A ratio above 1 means that blewedge is faster than C. If other programs distort the results, \
            the last line of the output is a warning. The benchmark types nothing, because the key events are written \
            to /dev/null.

            With --uinput, the benchmark creates a virtual keyboard, and grabs the keyboard (EVIOCGRAB) so that no \
            other program receives its events. For each length of the event queue, --uinput prints the number of \
            events per second, and the time from writing an event to reading it.

            With --profile, the benchmark runs one case in one thread without measuring it, for example under a \
            profiler. The names of cases that are written in C end in -c. The case `typing` runs the same code as the \
            daemon.

            EXAMPLES:
              blewedge bench
              blewedge bench --seconds 20 --json
              blewedge bench --uinput
              valgrind --tool=callgrind blewedge bench --profile path --units 65536
            """
    )

    @Flag(help: "Print the output as JSON, with one object per line.")
    var json = false

    @Option("Duration of each measurement.", value: "time")
    var seconds = TimeArgument(.seconds(5))

    @Flag(help: "Also measure the speed of a virtual keyboard in the kernel.")
    var uinput = false

    @Option("Case to run without measuring its speed: \(Profiled.names).", value: "case")
    var profile: Profiled?

    @Option("Number of bytes or notifications to process with --profile.", value: "count")
    var units = 1 << 16

    enum Profiled: ExpressibleByArgument {
        case measured(ProfiledCase)
        case typing

        static let allValueStrings = ProfiledCase.allCases.map(\.rawValue) + ["typing"]
        static let names = allValueStrings.joined(separator: ", ")

        init?(argument: String) {
            if argument == "typing" {
                self = .typing
            } else if let measured = ProfiledCase(rawValue: argument) {
                self = .measured(measured)
            } else {
                return nil
            }
        }
    }

    func validate() throws {
        if !(1...1 << 30 ~= units) { throw ValidationError("--units must be from 1 to 1073741824.") }
        if seconds.duration < .seconds(1) || seconds.duration > .seconds(3600) {
            throw ValidationError("--seconds must be from 1 to 3600.")
        }
    }

    func run() throws {
        guard ShortForm.isPossible else {
            throw CommandFailure(.unavailable, CommandFaultText.oneProcessor)
        }
        let table: CompiledTable
        do {
            table = try CompiledTable(.linble)
        } catch {
            throw CommandFailure(.internal, CommandFaultText.measurement, "\(error)")
        }
        switch profile {
        case .measured(let profiled): return try profiled.run(units, table)
        case .typing: return try TypingProfile.run(units, Pattern(.mixed).bytes, table)
        case nil: break
        }
        let seconds = Double(self.seconds.duration.components.seconds)
        if !json { try print("what", "ours MB/s", "ours ns/B", "C ns/B", "ours / C", "quartiles") }
        var lines: [ShortForm.Line] = []
        do {
            try ShortForm.run(table, seconds: seconds) { line in
                lines.append(line)
                try show(line)
            }
        } catch is RingMeasurement.WrongBytes {
            throw CommandFailure(.internal, CommandFaultText.unlike)
        }
        try showSum(of: lines)
        guard uinput else { return }
        for queue in ReaderQueue.allCases { try measureKeyboard(seconds, queue) }
    }

    private func show(_ line: ShortForm.Line) throws {
        let result = line.result
        guard json else {
            return try print(
                line.what,
                Self.text(line.megabytesPerSecond, 1),
                Self.text(result.time / Double(line.bytes), 2),
                Self.text(result.reference / Double(line.bytes), 2),
                Self.text(result.ratio, 2),
                "\(Self.text(result.lowerQuartile, 2)) … \(Self.text(result.upperQuartile, 2))"
            )
        }
        var object = JSONObject()
        object.add("case", line.name)
        object.add("picosecondsPerByte", Int(result.time * 1000 / Double(line.bytes)))
        object.add("referencePicosecondsPerByte", Int(result.reference * 1000 / Double(line.bytes)))
        object.add("ratioPerMille", Int(result.ratio * 1000))
        object.add("repetitions", result.repetitions)
        object.add("disturbed", result.disturbed)
        object.add("isDisturbed", result.isDisturbed)
        if line.keys > 0 { object.add("keysPerSecond", Int(line.keysPerSecond)) }
        try StandardStream.output.write(object.text + "\n")
    }

    /// Prints the keys per second, the memory use, and a note if other programs disturbed the measurement.
    private func showSum(of lines: [ShortForm.Line]) throws {
        let memory = MemoryUse.now
        guard !json else {
            var object = JSONObject()
            object.add("case", "memory")
            object.add("pssKilobytes", memory.share)
            object.add("peakKilobytes", memory.peak)
            return try StandardStream.output.write(object.text + "\n")
        }
        for line in lines where line.keys > 0 {
            try note(LogText.keysPerSecond.message(line.what, "\(Int(line.keysPerSecond))"))
        }
        let (share, peak) = (Self.text(Double(memory.share) / 1024, 1), Self.text(Double(memory.peak) / 1024, 1))
        try note(LogText.memory.message(share, peak))
        if let disturbance = Self.disturbance(lines.map(\.result)) { try note(disturbance) }
    }

    private func note(_ message: Message) throws { try StandardStream.output.write(message.text(.current) + "\n") }

    /// Returns a note if other programs disturbed the measurement; nil if they did not.
    static func disturbance(_ results: [Comparison.Result]) -> Message? {
        let disturbed = results.map(\.disturbed).reduce(0, +)
        let all = results.map { $0.isDisturbed ? $0.repetitions : $0.repetitions + $0.disturbed }.reduce(0, +)
        guard results.contains(where: \.isDisturbed) || 4 * disturbed > all else { return nil }
        return LogText.disturbed.message("\(disturbed)", "\(all)")
    }

    private func measureKeyboard(_ seconds: Double, _ queue: ReaderQueue) throws {
        let result: KeyboardMeasurement.Result
        do {
            result = try KeyboardMeasurement.run(nanoseconds: Int64(seconds * 1e9), queue: queue)
        } catch {
            throw Self.failure(error)
        }
        try StandardStream.output.write(Self.line(result, queue, isJSON: json) + "\n")
    }

    /// Returns the line for a measured virtual keyboard.
    static func line(_ result: KeyboardMeasurement.Result, _ queue: ReaderQueue, isJSON: Bool) -> String {
        let shares = [0.5, 0.9, 0.99, 1].map { result.latencies.quantile($0) / 1000 }
        guard isJSON else {
            let times = zip(["p50", "p90", "p99", "max"], shares).map { "\($0) \(text($1, 1))" }
            return
                "uinput, queue of \(queue.size): \(Int(result.eventsPerSecond)) events/s, \(result.lost) lost; write to read, µs: "
                + times.joined(separator: ", ") + " (\(result.latencies.count) keystrokes)"
        }
        var object = JSONObject()
        object.add("case", "uinput")
        object.add("queue", queue.size)
        object.add("eventsPerSecond", Int(result.eventsPerSecond))
        object.add("lost", result.lost)
        object.add("keystrokes", result.latencies.count)
        for (name, share) in zip(["p50", "p90", "p99", "max"], shares) {
            object.add("\(name)Nanoseconds", Int(share * 1000))
        }
        return object.text
    }

    static func failure(_ failure: KeyboardMeasurement.Failure) -> CommandFailure {
        switch failure {
        case .keyboard(let error):
            CommandFailure(.unavailable, CommandFaultText.noKeyboard, UInputDevice.path, "\(error)")
        case .node(let path, let error):
            CommandFailure(.permission, CommandFaultText.nodeNotHeld, path ?? "", "\(error)")
        case .input(let error): CommandFailure(.inputOutput, CommandFaultText.keyboardFailed, "\(error)")
        }
    }

    private func print(_ columns: String...) throws {
        let widths = [20, 12, 12, 10, 10]
        var line = ""
        for (index, column) in columns.enumerated() {
            let width = index < widths.count ? widths[index] : 0
            let space = String(repeating: " ", count: max(0, width - column.count))
            line += index == 0 ? column + space : index < widths.count ? space + column : "  " + column
        }
        try StandardStream.output.write(line + "\n")
    }

    private static func text(_ number: Double, _ decimals: Int) -> String {
        let scale = (0..<decimals).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int((number * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        return "\(scaled / scale)." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }
}
