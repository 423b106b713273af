// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import LinuxIO

@Suite("What is done after a system call has failed", .timeLimit(.minutes(10)))
struct RecoveryTests {
    /// Returns the rows of the vectors: the error number (nil for all other errors), and the recovery for each kind of
    /// descriptor.
    private func rows() throws -> [(code: Int32?, actions: [CallKind: Recovery])] {
        let lines = try VectorFile.lines("errno-actions.txt").map { line in
            (line.number, line.text.split(separator: " ").map(String.init))
        }
        let kinds = try #require(lines.first).1.dropFirst(2).map { CallKind(rawValue: $0) }
        #expect(Set(kinds) == Set(CallKind.allCases.map(Optional.some)) && kinds.count == CallKind.allCases.count)
        return try lines.dropFirst().map { number, words in
            try #require(words.count == kinds.count + 2, "line \(number)")
            let actions = words.dropFirst(2).map { Recovery(rawValue: $0) }
            let pairs = try zip(kinds, actions).map { (try #require($0), try #require($1, "line \(number)")) }
            let code = Int32(words[1])
            #expect((code == nil) == (words[1] == "*"), "line \(number)")
            return (code, Dictionary(uniqueKeysWithValues: pairs))
        }
    }

    @Test(
        "One table says for every errno and every kind of thing what is done; unknown errors are as broken things"
    )
    func table() throws {
        let rows = try rows()
        let others = try #require(rows.first { $0.code == nil }).actions
        let known = Dictionary(uniqueKeysWithValues: rows.compactMap { row in row.code.map { ($0, row.actions) } })
        #expect(known.count == 130)
        for code in Int32(-200)...4095 {
            let expected = known[code] ?? others
            for kind in CallKind.allCases {
                let found = Errno(rawValue: code).recovery(of: kind)
                if found != expected[kind] { Issue.record("errno \(code) of \(kind): \(found)") }
            }
        }
    }

    @Test("Each action is one that some error leads to, and only our own mistakes stop the program at once")
    func actions() throws {
        var reached: Set<Recovery> = []
        for code in Int32(1)...133 {
            for kind in CallKind.allCases {
                let action = Errno(rawValue: code).recovery(of: kind)
                reached.insert(action)
                #expect((action == .fault) == (code == EBADF || code == EFAULT))
            }
        }
        #expect(reached == Set(Recovery.allCases))
    }

    #if DEBUG
        @Test("A call that a signal interrupts is made again, one that would have to wait says so, others throw")
        func running() throws {
            defer { CallScript.use(nil) }
            let answers = Answers([.error(.interrupted), .error(.interrupted), .result(7)])
            CallScript.use { _ in answers.next() }
            #expect(try SystemCall.run(CallSite(.link, .read)) { Int32(-1) } == 7)
            answers.put([.error(.wouldBlock)])
            #expect(try SystemCall.runNonBlocking(CallSite(.link, .read)) { Int32(3) } == .wouldBlock)
            answers.put([.error(.connectionReset)])
            #expect(throws: Errno.connectionReset) { _ = try SystemCall.run(CallSite(.link, .read)) { Int32(3) } }
            // Without further answers, the kernel is called, as it is for calls without a call site.
            #expect(try SystemCall.run(CallSite(.link, .read)) { Int32(3) } == 3)
            answers.put([.error(.ioError)])
            #expect(try SystemCall.run { Int32(4) } == 4)
        }

        @Test("Replaced system calls apply to the thread and the threads that it starts, and to no others")
        func threads() throws {
            defer { CallScript.use(nil) }
            CallScript.use { _ in .result(9) }
            let child = Answers([])
            try SystemThread(name: "child") {
                let result = try? SystemCall.run(CallSite(.file, .read)) { Int32(1) }
                child.put([.result(result ?? -1)])
            }.join()
            guard case .result(9)? = child.next() else {
                Issue.record("the thread asked the kernel")
                return
            }
            CallScript.use(nil)
            #expect(try SystemCall.run(CallSite(.file, .read)) { Int32(1) } == 1)
        }

        /// Answers, returned in order.
        private final class Answers: @unchecked Sendable {
            private var waiting: [CallScript.Answer]

            init(_ answers: [CallScript.Answer]) { waiting = answers }
            func put(_ answers: [CallScript.Answer]) { waiting += answers }
            func next() -> CallScript.Answer? { waiting.isEmpty ? nil : waiting.removeFirst() }
        }
    #endif

    @Test("15 temporary failures in a row are tolerated, other failures never; a success resets the count")
    func repeated() {
        var faults = RepeatedFaults()
        var borne = 0
        while faults.allow(.noMemory, of: .link) { borne += 1 }
        #expect(borne == 15)
        faults.clear()
        let answers = [faults.allow(.noBufferSpace, of: .hci), faults.allow(.connectionReset, of: .link)]
        #expect(answers == [true, false])
    }
}
