// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import Measuring

/// Launches this program repeatedly and summarizes the results in a table.
struct Report {
    private struct Row {
        var seed: UInt64
        var values: [Double]
        var deviation: Double?
        /// System load at the end of the launch.
        var load: Double

        var ratio: Double { values[0] }
        var isVoid: Bool { abs(deviation ?? 0) > Anchor.tolerance }
        /// True if more repetitions were disturbed than valid.
        var isDisturbed: Bool { values[6] > values[5] }
    }

    private let options: Options
    private var rows: [String: [Row]] = [:]
    private var bounces: [Double] = []
    private var anchors: [Anchor: [Double]] = [:]
    private let isAnchorsMachine: Bool

    init(_ options: Options) {
        self.options = options
        isAnchorsMachine = Machine.processor.contains("AMD EPYC") && Machine.processors == 2
    }

    /// Returns 0 if valid launches meet all thresholds, 1 if a threshold is missed, and 75 if there are too few valid
    /// launches.
    mutating func run() throws -> Int32 {
        var seed = options.seed
        var launched = 0
        print("\(Machine.processor), \(Machine.processors) processors, load \(Machine.load)")
        // Launches that were disturbed by other processes are repeated, up to twice the requested number in total.
        while launched < options.launches || (launched < 2 * options.launches && hasTooFew) {
            try launch(seed: seed)
            seed += 1
            launched += 1
        }
        return show(launched)
    }

    private var hasTooFew: Bool {
        rows.values.contains { row in
            row.count { !$0.isVoid } < options.launches || 3 * row.count { $0.isDisturbed } > row.count
        }
    }

    private mutating func launch(seed: UInt64) throws {
        let only = options.only.map { " --only '\($0)'" } ?? ""
        let program = CommandLine.arguments.first ?? "Ratios"
        let command = "'\(program)' launch --seed \(seed) --repetitions \(options.repetitions)\(only)"
        guard let pipe = popen(command, "r") else { throw RingMeasurement.WrongBytes() }
        var found: [Anchor: Double] = [:]
        var lines: [(String, [Double])] = []
        while let line = readLine(from: pipe) {
            let fields = line.split(separator: "\t").map(String.init)
            switch fields.first {
            case "bounce": bounces += fields.dropFirst().compactMap(Double.init)
            case "anchor":
                if let anchor = Anchor(rawValue: fields[1]), let value = Double(fields[2]) { found[anchor] = value }
            case "result": lines.append((fields[1], fields.dropFirst(2).compactMap(Double.init)))
            default: break
            }
        }
        guard pclose(pipe) == 0 else { throw RingMeasurement.WrongBytes() }
        for (anchor, value) in found { anchors[anchor, default: []].append(value) }
        for (id, values) in lines where values.count == 7 {
            let anchor = Case.all.first { $0.id == id }?.anchor
            let deviation =
                isAnchorsMachine
                ? anchor.flatMap { found[$0].map { [anchor] in $0 / (anchor?.expected ?? 1) - 1 } } : nil
            let load = Double(Machine.load) ?? 0
            rows[id, default: []].append(Row(seed: seed, values: values, deviation: deviation, load: load))
        }
        note("launch with seed \(seed): \(lines.count) cases, load \(Machine.load)")
    }

    private func show(_ launched: Int) -> Int32 {
        let file = options.json.flatMap { fopen($0, "w") }
        var isMissed = false
        var isUncertain = false
        print(
            "cache line, one way: \(bounces.quantile(0.5).text) ns (\(bounces.min()?.text ?? "-") … \(bounces.max()?.text ?? "-"))"
        )
        for anchor in Anchor.allCases {
            guard let values = anchors[anchor] else { continue }
            let median = values.quantile(0.5)
            let deviation =
                isAnchorsMachine ? "\(((median / anchor.expected - 1) * 100).text) %" : "another machine: not compared"
            print(
                "\(anchor.rawValue.padded(10)) \(median.text) ns, where the goals were set \(anchor.expected.text) ns: \(deviation)"
            )
        }
        print("")
        print(
            "row".padded(14) + "what".padded(32) + "ratio".padded(9) + "launches".padded(17) + "gate".padded(7)
                + "goal".padded(7) + "ours ns".padded(12) + "other ns".padded(12) + "counted".padded(9)
                + "disturbed".padded(11) + "load".padded(6) + "verdict"
        )
        for row in Case.all {
            guard let all = rows[row.id] else { continue }
            let sound = all.filter { !$0.isVoid }
            let disturbed = all.count { $0.isDisturbed }
            let isVoid = sound.count < options.launches || 3 * disturbed > all.count
            let counted = isVoid ? all : sound
            let ratios = counted.map(\.ratio)
            let ratio = ratios.quantile(0.5)
            var verdict = "shown only"
            if let gate = row.gate, let goal = row.goal {
                verdict = ratio >= goal ? "goal" : ratio >= gate ? "gate" : "MISSED"
                if isVoid {
                    isUncertain = true
                } else if ratio < gate {
                    isMissed = true
                }
            }
            if isVoid { verdict = "void (\(verdict))" }
            let ours = counted.map { $0.values[3] }.quantile(0.5)
            let other = counted.map { $0.values[4] }.quantile(0.5)
            print(
                row.id.padded(14) + row.what.padded(32) + ratio.text.padded(9)
                    + "\(ratios.min()?.text ?? "-") … \(ratios.max()?.text ?? "-")".padded(17)
                    + (row.gate?.text ?? "-").padded(7) + (row.goal?.text ?? "-").padded(7) + ours.text.padded(12)
                    + other.text.padded(12) + "\(counted.count)/\(all.count)".padded(9)
                    + "\(disturbed)/\(all.count)".padded(11) + all.map(\.load).quantile(0.5).text.padded(6) + verdict
            )
            guard let file else { continue }
            for launch in all {
                fputs(
                    "{\"case\":\"\(row.id)\",\"seed\":\(launch.seed),\"ratio\":\(launch.ratio),\"quartiles\":[\(launch.values[1]),\(launch.values[2])],"
                        + "\"ours_ns\":\(launch.values[3]),\"reference_ns\":\(launch.values[4]),\"repetitions\":\(Int(launch.values[5])),"
                        + "\"load\":\(launch.load),\"disturbed\":\(Int(launch.values[6])),\"deviation\":\(launch.deviation.map { "\($0)" } ?? "null"),\"void\":\(launch.isVoid)}\n",
                    file
                )
            }
            fputs(
                "{\"case\":\"\(row.id)\",\"what\":\"\(row.what)\",\"median\":\(ratio),\"gate\":\(row.gate.map { "\($0)" } ?? "null"),"
                    + "\"goal\":\(row.goal.map { "\($0)" } ?? "null"),\"launches\":\(all.count),\"counted\":\(counted.count),\"disturbed\":\(disturbed),\"verdict\":\"\(verdict)\"}\n",
                file
            )
        }
        if let file { fclose(file) }
        print(
            "\n\(launched) launches, seeds \(options.seed) … \(options.seed + UInt64(launched) - 1), load \(Machine.load)"
        )
        return isMissed ? 1 : isUncertain ? 75 : 0
    }

    private func readLine(from file: UnsafeMutablePointer<FILE>) -> String? {
        var line: UnsafeMutablePointer<CChar>?
        var size = 0
        defer { free(line) }
        guard getline(&line, &size, file) > 0, let line else { return nil }
        return String(String(cString: line).dropLast())
    }
}

/// Prints a message besides the table.
func note(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

/// Description of the machine.
enum Machine {
    static let processor = field("/proc/cpuinfo") { line in
        line.hasPrefix("model name") ? line.split(separator: ":").last.map { String($0.dropFirst()) } : nil
    }
    static var processors: Int { sysconf(Int32(_SC_NPROCESSORS_ONLN)) }
    static var load: String { field("/proc/loadavg") { $0.split(separator: " ").first.map(String.init) } }

    private static func field(_ path: String, _ pick: (String) -> String?) -> String {
        guard let file = fopen(path, "r") else { return "unknown" }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(
                decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) },
                as: UTF8.self
            )
            if let found = pick(text) { return found }
        }
        return "unknown"
    }
}

extension Double {
    /// The number with about three significant digits.
    var text: String {
        let digits = abs(self) >= 100 ? 0 : abs(self) >= 10 ? 1 : abs(self) >= 0.1 ? 2 : 4
        let scale = pow(10, Double(digits))
        let rounded = (self * scale).rounded() / scale
        return digits == 0 ? "\(Int(rounded))" : "\(rounded)"
    }
}

extension String {
    func padded(_ width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(1, width - count))
    }
}
