// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// Runs the target that is named in the environment for libFuzzer.
///
/// libFuzzer measures time-outs in whole seconds of real time, during which other processes may use the processor, so
/// each input is timed here. Real time is measured first because this needs no system call. An input that exceeds the
/// previous maximum is run twice more, measuring the processor time of its thread; the shortest time counts, because
/// the first run may include one-time initialization.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: data, count: count))
    guard run(input, by: CLOCK_MONOTONIC) > Watch.worst else { return 0 }
    let time = min(run(input, by: CLOCK_THREAD_CPUTIME_ID), run(input, by: CLOCK_THREAD_CPUTIME_ID))
    guard time <= Watch.most else { fatalError("an input took \(time / 1_000_000) ms") }
    if time > Watch.worst { Watch.worst = time }
    return 0
}

@_cdecl("LLVMFuzzerInitialize")
func initialize(_: UnsafeMutablePointer<CInt>?, _: UnsafeMutableRawPointer?) -> CInt {
    atexit { print("slowest input: \(Watch.worst / 1000) us") }
    return 0
}

private enum Watch {
    /// Maximum processor time for one input, in nanoseconds.
    static let most = 100_000_000
    nonisolated(unsafe) static var worst = 0
    static let target = getenv("FUZZ_TARGET").flatMap { FuzzTarget(rawValue: String(cString: $0)) }
}

private func run(_ input: [UInt8], by clock: clockid_t) -> Int {
    guard let target = Watch.target else { fatalError("FUZZ_TARGET names no target") }
    let start = time(of: clock)
    if let fault = target.fault(in: input) { fatalError("\(target): \(fault)") }
    return time(of: clock) - start
}

private func time(of clock: clockid_t) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
