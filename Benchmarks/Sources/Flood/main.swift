// SPDX-License-Identifier: GPL-2.0-or-later
//
// Memory use of B-23: millions of random beacon reports with 10,000 monitored and 32 ranged regions, compared with C
// loops that compare ten UUIDs and all UUIDs. Prints one JSON object per line.

import CPeers
import CReference
import Glibc
import Measuring
import RadioMeasuring

let (blocks, count) = (160, 65_536)
let regions = 10_000

/// Returns the resident memory of the process in KiB.
func residentKiB() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return -1 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, 128, file) != nil else { return -1 }
    let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(
        separator: " "
    )
    return words.count > 1 ? (Int(words[1]) ?? -1) * (sysconf(Int32(_SC_PAGESIZE)) / 1024) : -1
}

/// Returns the heap memory in use, in KiB.
func heapKiB() -> Int { peer_heap_bytes() / 1024 }

func seconds(_ body: () -> Void) -> Double {
    var (start, end) = (timespec(), timespec())
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
    body()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
    return Double(end.tv_sec - start.tv_sec) + Double(end.tv_nsec - start.tv_nsec) / 1e9
}

_ = cref_pin_thread(0)
let empty = heapKiB()
guard var watching = BeaconReading(regions: regions), var ranging = BeaconReading(regions: regions),
    ranging.range() == 32
else { exit(70) }
let uuids = BeaconReading.uuids(regions)
let ready = heapKiB()
// Every second block belongs to the ranged regions, so that their lists are full within the first million reports.
var air = [HostileBeacons(seed: 23, copying: regions), HostileBeacons(seed: 24, copying: 32)]
var times = (watching: 0.0, ranging: 0.0, ten: 0.0, all: 0.0)
var early = (heap: 0, resident: 0)
var (entered, matched, ofAll) = (0, 0, 0)
for block in 0..<blocks {
    let events = air[block % 2].block(count)
    times.watching += seconds { entered += watching.handle(events) }
    times.ranging += seconds { entered += ranging.handle(events) }
    times.ten += seconds {
        matched += peer_beacons_handle_all(uuids, 10, events.bytes, events.lengths, events.lengths.count)
    }
    // Comparing all UUIDs is slow, so only one of sixteen blocks does it.
    if block % 16 == 0 {
        ofAll += events.lengths.count
        times.all += seconds {
            matched += peer_beacons_handle_all(uuids, regions, events.bytes, events.lengths, events.lengths.count)
        }
    }
    if block == 15 { early = (heapKiB(), residentKiB()) }
}
let reports = blocks * count
let (heap, resident) = (heapKiB(), residentKiB())
func rate(_ reports: Int, _ time: Double) -> Int { Int(Double(reports) / time) }

print(
    "{\"case\":\"B-23 memory\",\"reports\":\(reports),\"regions\":\(regions),\"heapOfBothMonitorsKiB\":\(ready - empty),"
        + "\"heapGrowthAfterFirstMillionKiB\":\(heap - early.heap),"
        + "\"residentGrowthAfterFirstMillionKiB\":\(resident - early.resident),\"residentKiB\":\(resident)}"
)
print(
    "{\"case\":\"B-23 flood, by chance\",\"watchingASecond\":\(rate(reports, times.watching)),"
        + "\"watchingAndRanging32ASecond\":\(rate(reports, times.ranging)),\"cLoop10ASecond\":\(rate(reports, times.ten)),"
        + "\"cLoop\(regions)ASecond\":\(rate(ofAll, times.all))}"
)
print("{\"case\":\"B-23 tables\",\"watching\":\"\(watching.tables)\",\"ranging\":\"\(ranging.tables)\"}")
let isHeld = heap - early.heap < 1024 && entered > 0 && matched > 0
exit(isHeld ? 0 : 1)
