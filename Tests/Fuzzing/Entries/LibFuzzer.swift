// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// The target that is named in the environment, given to libFuzzer.
///
/// libFuzzer counts its own time-outs in whole seconds of the clock on the wall, and another process may take the
/// processor for as long; so each input is timed here, by what its thread has used of the processor. A slow one is timed
/// twice again, since the first of its kind may pay for what is made once, and the quickest time counts.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: data, count: count))
    var time = run(input)
    if time > Watch.most { time = min(time, run(input), run(input)) }
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
    /// The longest time of an input, in nanoseconds of the processor.
    static let most = 100_000_000
    nonisolated(unsafe) static var worst = 0
    static let target = getenv("FUZZ_TARGET").flatMap { FuzzTarget(rawValue: String(cString: $0)) }
}

private func run(_ input: [UInt8]) -> Int {
    guard let target = Watch.target else { fatalError("FUZZ_TARGET names no target") }
    let start = processorTime()
    if let fault = target.fault(in: input) { fatalError("\(target): \(fault)") }
    return processorTime() - start
}

private func processorTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
