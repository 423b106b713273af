// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// A value that says what it is in the name of a test.
public protocol CustomTestStringConvertible {
    /// Its text.
    var testDescription: String { get }
}

/// What is told where something is not so.
public typealias Comment = String

/// Prints several texts.
public func print(_ first: String, _ rest: String...) {
    Swift.print(rest.reduce(first) { "\($0) \($1)" })
}

/// A place in a test.
public struct SourceLocation: Sendable {
    var file: StaticString
    var line: Int

    /// The place of the call.
    public init(file: StaticString = #fileID, line: Int = #line) {
        self.file = file
        self.line = line
    }
}

/// A fault that a test has found.
public struct Issue {
    /// Has the test fail.
    public static func record(_ text: String = "recorded", file: StaticString = #fileID, line: Int = #line) {
        Run.fail(text, file, line)
    }
}

/// The tests that run, one after another.
private enum Run {
    nonisolated(unsafe) static var failures = 0
    nonisolated(unsafe) static var passed = 0
    nonisolated(unsafe) static var failed = 0
    /// The most faults of one test that are told.
    static let most = 10

    static func fail(_ text: String, _ file: StaticString, _ line: Int) {
        unsafe failures += 1
        guard unsafe failures <= most else { return }
        print("      \(file):\(line): \(text)")
    }
}

/// Runs a test, and prints a line with its outcome.
public func run(_ name: String, _ test: @escaping () -> Void) {
    unsafe Run.failures = 0
    var test = test
    let outcome = unsafe withUnsafeMutablePointer(to: &test) { pointer in
        unsafe test_guarded(
            { context in
                guard let context = unsafe context else { return }
                unsafe context.assumingMemoryBound(to: (() -> Void).self).pointee()
            },
            UnsafeMutableRawPointer(pointer)
        )
    }
    if outcome > 1 {
        unsafe Run.failures += 1
        print("      it died of signal \(outcome)")
    }
    if unsafe Run.failures == 0 {
        unsafe Run.passed += 1
        print("ok    \(name)")
    } else {
        unsafe Run.failed += 1
        print("FAIL  \(name)")
    }
}

/// Prints the sum, and gives the program's exit status.
public func finish() -> Int32 {
    unsafe print("\(Run.passed) passed, \(Run.failed) failed")
    return unsafe Run.failed == 0 && Run.passed > 0 ? 0 : 1
}

/// Runs a test for each of its arguments.
public func each<Arguments: Sequence>(_ arguments: Arguments, _ test: (Arguments.Element) -> Void) {
    var count = 0
    for argument in arguments {
        test(argument)
        count += 1
    }
    if count == 0 { Issue.record("there are no arguments") }
}

/// Has the test fail where the condition is false.
public func expect(
    _ condition: Bool,
    _ text: @autoclosure () -> String = "it is not so",
    file: StaticString = #fileID,
    line: Int = #line
) {
    if !condition { Run.fail(text(), file, line) }
}

/// Has the test fail, at another place, where the condition is false.
public func expect(
    _ condition: Bool,
    _ text: @autoclosure () -> String = "it is not so",
    sourceLocation: SourceLocation
) {
    expect(condition, text(), file: sourceLocation.file, line: sourceLocation.line)
}

/// Has the test fail where the work throws nothing; gives what it throws.
@discardableResult
public func expect<Failure: Error, Value>(
    throws type: Failure.Type,
    _ text: @autoclosure () -> String = "nothing is thrown",
    file: StaticString = #fileID,
    line: Int = #line,
    _ work: () throws(Failure) -> Value
) -> Failure? {
    do throws(Failure) {
        _ = try work()
        Run.fail(text(), file, line)
        return nil
    } catch {
        return error
    }
}

/// Has the test fail where the work does not throw this error.
@discardableResult
public func expect<Failure: Error & Equatable, Value>(
    throws error: Failure,
    _ text: @autoclosure () -> String = "another error, or none, is thrown",
    file: StaticString = #fileID,
    line: Int = #line,
    _ work: () throws(Failure) -> Value
) -> Failure? {
    let thrown = expect(throws: Failure.self, text(), file: file, line: line, work)
    if let thrown, thrown != error { Run.fail(text(), file, line) }
    return thrown
}

/// Does the work, which ends the test where it throws.
public func expect<Value>(throws type: Never.Type, _ work: () -> Value) { _ = work() }

/// Ends the test where there is no value.
public func require<Value>(
    _ value: Value?,
    _ text: @autoclosure () -> String = "there is no value",
    file: StaticString = #fileID,
    line: Int = #line
) -> Value {
    guard let value else { stop(text(), file: file, line: line) }
    return value
}

/// Ends the test where the condition is false.
public func require(
    _ condition: Bool,
    _ text: @autoclosure () -> String = "it is not so",
    file: StaticString = #fileID,
    line: Int = #line
) {
    if !condition { stop(text(), file: file, line: line) }
}

/// Ends the test with an error that nobody catches.
public func stop(throwing error: some Error, file: StaticString = #fileID, line: Int = #line) -> Never {
    stop("an error is thrown", file: file, line: line)
}

private func stop(_ text: String, file: StaticString, line: Int) -> Never {
    Run.fail(text, file, line)
    test_stop()
}

// The library's own are not in the embedded one.
extension StringProtocol {
    /// Whether a text is a part of this one.
    public func contains(_ other: String) -> Bool {
        let wanted = Array(other)
        guard !wanted.isEmpty else { return true }
        var rest = self[...]
        while rest.count >= wanted.count {
            if rest.prefix(wanted.count).elementsEqual(wanted) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    /// The parts between the places where a text is.
    public func split(
        separator: String,
        maxSplits: Int = .max,
        omittingEmptySubsequences: Bool = true
    ) -> [SubSequence] {
        let wanted = Array(separator)
        var parts: [SubSequence] = []
        var begin = startIndex
        var place = startIndex
        while place < endIndex, parts.count < maxSplits {
            let rest = self[place...]
            guard rest.prefix(wanted.count).elementsEqual(wanted) else {
                place = index(after: place)
                continue
            }
            if !omittingEmptySubsequences || begin < place { parts.append(self[begin..<place]) }
            place = index(place, offsetBy: wanted.count)
            begin = place
        }
        if !omittingEmptySubsequences || begin < endIndex { parts.append(self[begin...]) }
        return parts
    }

    /// The text with another one in the place of each character.
    public func replacing(_ character: Character, with other: String) -> String {
        var text = ""
        for each in self { text += each == character ? other : String(each) }
        return text
    }
}
