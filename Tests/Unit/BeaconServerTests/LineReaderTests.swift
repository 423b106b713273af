// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import Testing

@Suite("Lines of the reference server", .timeLimit(.minutes(10)))
struct LineReaderTests {
    @Test("Lines are returned one by one; the wait ends at the time limit, and at the end of the pipe")
    func lines() throws {
        var ends = [Int32](repeating: 0, count: 2)
        try #require(pipe(&ends) == 0)
        let reader = LineReader(ends[0], milliseconds: 50)
        #expect(write(ends[1], "one\ntwo\nthr", 11) == 11)
        #expect(reader.line() == "one")
        #expect(reader.line() == "two")
        #expect(reader.line() == nil)
        #expect(write(ends[1], "ee\n", 3) == 3)
        #expect(reader.line() == "three")
        close(ends[1])
        #expect(reader.line() == nil)
    }
}
