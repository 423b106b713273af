// SPDX-License-Identifier: GPL-2.0-or-later
//
// Copies standard input to standard output without the bytes that the strict table discards, like `tr -cd
// '\12\15\40-\176'`.

import FilterKernel
import Glibc

var input = [UInt8](repeating: 0, count: 128 * 1024)
var output = [UInt8](repeating: 0, count: input.count + 64)
while true {
    let count = read(STDIN_FILENO, &input, input.count)
    guard count > 0 else { exit(count == 0 ? 0 : 1) }
    let kept = ByteFilter.keep(input, count, into: &output)
    var written = 0
    while written < kept {
        let part = output.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress.map { $0 + written }, kept - written) }
        guard part > 0 else { exit(1) }
        written += part
    }
}
