// SPDX-License-Identifier: GPL-2.0-or-later

import Advertisements
import BluetoothHost
import BluetoothPackets
import CPeers
import CReference
import FilterKernel
import Glibc
import Keystrokes
import Measuring

/// Row of the table: a comparison and its target.
struct Case {
    /// Identifier of the requirement.
    var id: String
    /// Description of the contender and the reference.
    var what: String
    /// Target ratio and ratio that is currently sufficient; nil for informational rows.
    var goal: Double?
    var gate: Double?
    /// Measurement that must match the machine on which the targets were set.
    var anchor: Anchor?

    /// All rows, in the order of the table.
    static let all: [Case] = {
        let ring = { (id: String, what: String, goal: Double, gate: Double, anchor: Anchor) in
            Case(id: id, what: what, goal: goal, gate: gate, anchor: anchor)
        }
        var cases = [
            ring("B-1", "ring, 20 B / C ring", 1, 0.95, .ring20),
            ring("B-2", "ring, 244 B / C ring", 1, 0.97, .ring244),
            ring("B-3", "ring, 1 B / C ring", 1, 0.90, .ring1),
            ring("B-4", "ring, 20 B / boost spsc_queue", 1.15, 1.10, .ring20),
            ring("B-5a", "ring, 20 B / Mutex<Deque>", 8, 6, .ring20),
            ring("B-5b", "ring, 20 B / AsyncStream", 90, 70, .ring20),
            ring("B-5c", "ring, 20 B / pipe", 39, 30, .ring20),
            ring("B-5d", "ring, 20 B / SEQPACKET", 85, 70, .ring20),
            Case(id: "B-5e", what: "ring, 20 B / GAsyncQueue", anchor: .ring20),
        ]
        for corpus in Corpus.allCases {
            cases.append(
                Case(id: "B-6 \(corpus.rawValue)", what: "encode / C twin", goal: 1, gate: 0.95, anchor: .copy)
            )
        }
        return cases + [
            Case(id: "B-7", what: "encode, mixed / memcpy", goal: 0.80, gate: 0.50, anchor: .copy),
            Case(id: "B-7 limit", what: "loads and stores / memcpy", anchor: .copy),
            Case(id: "B-8", what: "encode, mixed / dictionary", goal: 20, gate: 12, anchor: .copy),
            Case(id: "B-9a", what: "filter, clean / memcpy", goal: 0.40, gate: 0.30, anchor: .filterCopy),
            Case(id: "B-9b", what: "filter program / tr -cd", goal: 4, gate: 2.5),
            Case(id: "B-10a", what: "whole path / C twin", goal: 1, gate: 0.95, anchor: .write),
            Case(id: "B-10b", what: "whole path / naive", goal: 200, gate: 150, anchor: .write),
            Case(id: "B-12", what: "reports / C loop", goal: 0.8, gate: 0.5),
            // The design uses the inverse ratio (ours / C): at most 1.5, and 2 for now.
            Case(id: "B-20", what: "radio thread, 10,000/s / C loop", goal: 0.67, gate: 0.5),
            Case(id: "B-20 flood", what: "radio thread, no pause / C loop"),
            Case(id: "B-20 parse", what: "one address of many / C loop"),
            // The design uses the inverse ratio (10,000 / 10): at most 1.2, and 2 for now.
            Case(id: "B-23", what: "a report, 10,000 regions / 10", goal: 0.83, gate: 0.5),
            Case(id: "B-23 flood", what: "a report, 10 regions / C loop"),
            Case(id: "B-20 name", what: "one name of many / C, no list"),
            Case(id: "B-24", what: "HID report, nRF5 map / C loop"),
        ]
    }()
}

/// Reference measurement in nanoseconds that reveals a launch on a different or busy machine.
enum Anchor: String, CaseIterable {
    /// Time to send a chunk through the C ring.
    case ring20, ring244, ring1
    /// Time to copy one byte of a batch.
    case copy
    /// Time to copy one byte of 1 MiB.
    case filterCopy
    /// Time to write a batch to /dev/null.
    case write

    /// Value on the machine where the targets were set: 2 vCPU of an AMD EPYC (Zen 4), kernel 6.18.
    var expected: Double {
        switch self {
        case .ring20: 20 / 1.615
        case .ring244: 244 / 5.83
        case .ring1: 1 / 0.351
        case .copy: 1 / 107.0
        case .filterCopy: 1 / 45.0
        case .write: 196
        }
    }

    /// Maximum relative deviation from the expected value.
    static let tolerance = 0.25
}

/// All measurements of one launch.
struct Launch {
    var random: SplitMix
    var repetitions: Int
    var only: String?
    var results: [(id: String, result: Comparison.Result)] = []
    var anchors: [(anchor: Anchor, value: Double)] = []

    private func wants(_ ids: String...) -> Bool {
        guard let only else { return true }
        return ids.contains { id in
            Self.number(id) == Self.number(only) && (id.hasPrefix(only) || only.hasPrefix(id))
        }
    }

    /// Returns the number of a row without its suffix: `B-10` for `B-10a`.
    private static func number(_ id: String) -> Substring {
        id.prefix { $0 == "B" || $0 == "-" || $0.isNumber }
    }

    mutating func run() throws {
        var parts: [(inout Launch) throws -> Void] = []
        if wants("B-1", "B-2", "B-3", "B-4", "B-5") { parts.append { try $0.rings() } }
        if wants("B-6", "B-7", "B-8") { parts.append { try $0.encoders() } }
        if wants("B-9") { parts.append { try $0.filters() } }
        if wants("B-10") { parts.append { try $0.paths() } }
        if wants("B-12") { parts.append { try $0.reports() } }
        if wants("B-20") { parts += [{ try $0.crowd() }, { try $0.names() }, { try $0.radio() }] }
        if wants("B-23") { parts.append { try $0.beacons() } }
        if wants("B-24") { parts.append { try $0.inputReports() } }
        for part in parts.shuffled(using: &random) { try part(&self) }
    }

    /// Compares contenders, each of which belongs to a row.
    mutating func compare(
        _ reference: Contender,
        _ rows: [(String, Contender)],
        anchor: Anchor? = nil,
        per: Double = 1
    )
        throws
    {
        let wanted = rows.filter { row in wants(row.0) }
        guard !wanted.isEmpty else { return }
        let comparison = Comparison(reference, wanted.map(\.1), repetitions: repetitions)
        let measured = try comparison.run(using: &random)
        for (row, result) in zip(wanted, measured) { results.append((row.0, result)) }
        if let anchor { anchors.append((anchor, measured.map(\.reference).quantile(0.5) / per)) }
    }

    private mutating func rings() throws {
        let pattern = Pattern(.random)
        for chunk in [1, 20, 244] {
            for check in [
                RingMeasurement.ours(pattern, chunk: chunk, expected: pattern),
                RingMeasurement.reference(pattern, chunk: chunk, expected: pattern),
            ] { _ = try check.run(20_000) }
        }
        for check in [
            NaiveQueues.deque(pattern, chunk: 20, checks: true),
            NaiveQueues.asyncStream(pattern, chunk: 20, checks: true),
            NaiveQueues.peer("boost", { peer_boost(RingMeasurement.capacity) }, pattern, chunk: 20, checks: true),
            NaiveQueues.peer("pipe", peer_pipe, pattern, chunk: 20, checks: true),
            NaiveQueues.peer("SEQPACKET", peer_seqpacket, pattern, chunk: 20, checks: true),
            NaiveQueues.peer("GAsyncQueue", peer_glib, pattern, chunk: 20, checks: true),
        ] { _ = try check.run(2000) }
        for (id, chunk, anchor) in [("B-1", 20, Anchor.ring20), ("B-2", 244, .ring244), ("B-3", 1, .ring1)] {
            try compare(
                RingMeasurement.reference(pattern, chunk: chunk),
                [(id, RingMeasurement.ours(pattern, chunk: chunk))],
                anchor: anchor
            )
        }
        let ours = RingMeasurement.ours(pattern, chunk: 20)
        for (id, other) in [
            ("B-4", NaiveQueues.peer("boost", { peer_boost(RingMeasurement.capacity) }, pattern, chunk: 20)),
            ("B-5a", NaiveQueues.deque(pattern, chunk: 20)),
            ("B-5b", NaiveQueues.asyncStream(pattern, chunk: 20)),
            ("B-5c", NaiveQueues.peer("pipe", peer_pipe, pattern, chunk: 20)),
            ("B-5d", NaiveQueues.peer("SEQPACKET", peer_seqpacket, pattern, chunk: 20)),
            ("B-5e", NaiveQueues.peer("GAsyncQueue", peer_glib, pattern, chunk: 20)),
        ] { try compare(other, [(id, ours)]) }
    }

    private mutating func encoders() throws {
        let table = try CompiledTable(.linble)
        _ = cref_pin_thread(0)
        for corpus in Corpus.allCases {
            let input = corpus.bytes(16384)
            let (ours, reference) = try EncoderMeasurement.outputs(input, table)
            guard ours == reference, ours == NaiveEncoder().output(input), !ours.isEmpty else {
                throw RingMeasurement.WrongBytes()
            }
            let contender = EncoderMeasurement.ours(input, table)
            try compare(EncoderMeasurement.reference(input), [("B-6 \(corpus.rawValue)", contender)])
            guard corpus == .mixed else { continue }
            try compare(
                EncoderMeasurement.copying(input, table),
                [("B-7", contender), ("B-7 limit", EncoderMeasurement.stores(input))],
                anchor: .copy,
                per: Double(ours.count)
            )
            let naive = NaiveEncoder()
            try compare(
                Contender("naive Swift") { count in EncoderMeasurement.timed(count) { naive.encodeAll(input) } },
                [("B-8", contender)]
            )
        }
    }

    private mutating func filters() throws {
        _ = cref_pin_thread(0)
        let clean = Corpus.url.bytes(1 << 20).map { $0 == 10 ? 13 : $0 }
        let noisy = Corpus.mixed.bytes(1 << 20)
        var output = [UInt8](repeating: 0, count: clean.count + 64)
        let wanted = noisy.filter { $0 == 10 || $0 == 13 || 0x20...0x7E ~= $0 }
        let kept = ByteFilter.keep(noisy, noisy.count, into: &output)
        guard Array(output[..<kept]) == wanted else { throw RingMeasurement.WrongBytes() }
        let ours = Contender("ours") { count in
            EncoderMeasurement.timed(count) { ByteFilter.keep(clean, clean.count, into: &output) }
        }
        let length = [UInt32(clean.count)]
        var copy = [UInt8](repeating: 0, count: clean.count)
        let copying = Contender("memcpy") { count in
            EncoderMeasurement.timed(count) { cref_copy_blocks(&copy, clean, length, 1) }
        }
        try compare(copying, [("B-9a", ours)], anchor: .filterCopy, per: Double(clean.count))
        try programs(noisy, wanted)
    }

    /// Compares the filter program with tr, each processing a 32 MiB file in memory.
    private mutating func programs(_ part: [UInt8], _ wanted: [UInt8]) throws {
        let input = "/dev/shm/blewedge-ratios-\(getpid())"
        let output = input + ".out"
        defer {
            unlink(input)
            unlink(output)
        }
        let directory =
            CommandLine.arguments.first.map { $0.split(separator: "/", omittingEmptySubsequences: false) } ?? []
        let filter = (directory.dropLast() + ["Filter"]).joined(separator: "/")
        let commands = [[filter], ["tr", "-cd", "\\12\\15\\40-\\176"]]
        for command in commands {
            try Self.write([part], to: input)
            guard Self.run(command, input, output) > 0, try Self.contents(of: output) == wanted else {
                throw RingMeasurement.WrongBytes()
            }
        }
        try Self.write(Array(repeating: part, count: 32), to: input)
        let contenders = commands.map { command in
            Contender(command[0]) { count in
                var time = ThreadPair.Time()
                for _ in 0..<max(1, count / 64) { time.nanoseconds += Self.run(command, input, "/dev/null") }
                return time
            }
        }
        try compare(contenders[1], [("B-9b", contenders[0])])
    }

    private mutating func paths() throws {
        let table = try CompiledTable(.linble)
        let pattern = Pattern(.mixed)
        let path = "/dev/shm/blewedge-ratios-\(getpid()).events"
        defer { unlink(path) }
        // Compares the typed texts: batches end at different places in each run, so the Shift events can differ.
        let file = { try PathMeasurement.Sink(path) }
        _ = try PathMeasurement.ours(pattern, table, chunk: 20, to: file()).run(2000)
        let ours = TypedText(try Self.contents(of: path))
        _ = try PathMeasurement.reference(pattern, chunk: 20, to: file()).run(2000)
        let reference = TypedText(try Self.contents(of: path))
        let descriptor = open(path, O_WRONLY | O_TRUNC)
        _ = try NaivePath.contender(pattern, chunk: 20, descriptor).run(2000)
        close(descriptor)
        guard ours == reference, ours.count > 30_000 else { throw RingMeasurement.WrongBytes() }

        let sink = try PathMeasurement.Sink()
        let contender = PathMeasurement.ours(pattern, table, chunk: 20, to: sink)
        try compare(PathMeasurement.reference(pattern, chunk: 20, to: sink), [("B-10a", contender)])
        let null = open("/dev/null", O_WRONLY)
        defer { close(null) }
        try compare(NaivePath.contender(pattern, chunk: 20, null), [("B-10b", contender)])
        let batch = [UInt8](repeating: 0, count: 2400)
        let writes = Contender("write") { count in
            EncoderMeasurement.timed(count) { Glibc.write(null, batch, batch.count) }
        }
        let time = try (0..<repetitions).map { _ in Double(try writes.run(10_000).nanoseconds) / 10_000 }
        anchors.append((.write, time.quantile(0.5)))
    }

    private mutating func reports() throws {
        _ = cref_pin_thread(0)
        let events = AdvertisingEvents()
        var table = DeviceTable()
        guard let peer = peer_devices_create() else { throw RingMeasurement.WrongBytes() }
        defer { peer_devices_destroy(peer) }
        let reference = Contender("C loop") { count in
            EncoderMeasurement.timed(count) {
                peer_devices_handle_all(peer, events.bytes, events.lengths, events.lengths.count, 1)
            }
        }
        let ours = Contender("ours") { count in
            EncoderMeasurement.timed(count) { events.handle(with: &table, now: .nanoseconds(1)) }
        }
        _ = try (ours.run(1), reference.run(1))
        guard events.handle(with: &table, now: .zero) == events.reports, table.count == events.devices,
            peer_devices_handle_all(peer, events.bytes, events.lengths, events.lengths.count, 1) == events.reports,
            peer_devices_count(peer) == events.devices
        else { throw RingMeasurement.WrongBytes() }
        try compare(reference, [("B-12", ours)])
    }

    private static func run(_ command: [String], _ input: String, _ output: String) -> Int64 {
        let arguments = command.map { strdup($0) }
        defer { arguments.forEach { free($0) } }
        return peer_run(arguments.map { UnsafePointer($0) } + [nil], input, output)
    }

    private static func write(_ parts: [[UInt8]], to path: String) throws {
        guard let file = fopen(path, "w") else { throw RingMeasurement.WrongBytes() }
        defer { fclose(file) }
        for part in parts where fwrite(part, 1, part.count, file) != part.count { throw RingMeasurement.WrongBytes() }
    }

    private static func contents(of path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else { throw RingMeasurement.WrongBytes() }
        defer { fclose(file) }
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return contents }
            contents += buffer[..<count]
        }
    }
}

/// Text that an application receives: each key with the Shift state at the time it is pressed.
struct TypedText: Equatable {
    private var keys: [UInt32] = []

    var count: Int { keys.count }

    init(_ bytes: [UInt8]) {
        var isShifted: UInt32 = 0
        let size = InputEvent.size
        for start in stride(from: size - 8, to: bytes.count - 7, by: size) {
            let code = UInt32(bytes[start + 2]) | UInt32(bytes[start + 3]) << 8
            guard bytes[start] == 1 else { continue }
            if code == 42 {
                isShifted = UInt32(bytes[start + 4])
            } else if bytes[start + 4] == 1 {
                keys.append(code | isShifted << 16)
            }
        }
    }
}
