// SPDX-License-Identifier: GPL-2.0-or-later
//
// B-11 and the second half of B-12: heap allocations of the hot paths in the steady state. Prints one JSON object per
// line.

import Advertisements
import BluetoothHost
import CAllocations
import Glibc
import Keystrokes
import Measuring

/// Returns the number of allocations in `turns` calls of `body`, after as many calls for warming up.
func allocations(_ turns: Int, _ body: (Int) -> Void) -> UInt64 {
    body(turns)
    let before = allocations_count()
    body(turns)
    return allocations_count() - before
}

final class Block {
    var bytes = [UInt8](repeating: 0, count: 20)
}

let turns = 100_000
let table = try CompiledTable(.linble)
let pattern = Pattern(.mixed)
let sink = try PathMeasurement.Sink()

// Control: allocates an object and an array in each turn, which the counter must detect.
var kept: [Block] = []
kept.reserveCapacity(16)
let control = allocations(turns) { count in
    for turn in 0..<count {
        if kept.count < 16 { kept.append(Block()) } else { kept[turn % 16] = Block() }
    }
}
let path = allocations(turns, try PathMeasurement.turns(pattern, table, chunk: 20, burst: 1, to: sink))

let events = AdvertisingEvents()
var devices = DeviceTable()
let rounds = 400
let reports = allocations(rounds) { count in
    for round in 0..<count { _ = events.handle(with: &devices, now: .milliseconds(round)) }
}

func show(_ id: String, _ what: String, _ count: UInt64, _ units: Int, isMet: Bool) {
    let each = Double(count) / Double(units)
    print(
        "{\"case\":\"\(id)\",\"what\":\"\(what)\",\"allocations\":\(count),\"units\":\(units),\"each\":\(each),\"met\":\(isMet)}"
    )
}
show("control", "an object and its array", control, turns, isMet: control >= UInt64(2 * turns))
show("B-11", "allocations per chunk", path, turns, isMet: path == 0)
show("B-12", "allocations per report", reports, rounds * events.reports, isMet: reports == 0)
let isHeard = devices.count == events.devices && devices.counters.badEvents == 0
if !isHeard { print("the table did not take the events") }
exit(control >= UInt64(2 * turns) && path == 0 && reports == 0 && isHeard ? 0 : 1)
