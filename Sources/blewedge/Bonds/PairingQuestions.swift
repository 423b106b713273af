// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// The questions and news of a pairing, on standard error or as JSON lines; answers are on standard input.
final class PairingQuestions {
    private let loop: EventLoop
    private let isJSON: Bool
    private let print: (String) -> Void
    private let onAnswer: (PairingAnswer) -> Void
    private var input: LineInput?
    /// What the person is asked, and has not answered.
    private var question: ManagedPairing.Question?

    /// Questions that nobody has asked yet; `print` writes a line for programs.
    init(
        on loop: EventLoop,
        isJSON: Bool,
        print: @escaping (String) -> Void,
        onAnswer: @escaping (PairingAnswer) -> Void
    ) {
        self.loop = loop
        self.isJSON = isJSON
        self.print = print
        self.onAnswer = onAnswer
    }

    /// Asks; `onAnswer` follows, now or later, unless `settle` comes first.
    func ask(_ question: ManagedPairing.Question) {
        self.question = question
        tell(.ask(question))
        switch question {
        case .compare(let number): prompt(BondText.compare.text(.current, PairingAnswer.digits(number)))
        case .enter: prompt(BondText.enter.text(.current))
        }
        if input == nil {
            do throws(Errno) {
                input = LineInput(try Descriptor.forStandardInput(), on: loop)
            } catch {
                return take(nil)
            }
            input?.onLines = { [unowned self] in read() }
        }
        read()
    }

    func show(_ passkey: UInt32) {
        tell(.show(passkey))
        Console.note(BondText.show.message(PairingAnswer.digits(passkey)))
    }

    /// Asks no more: what is typed from now to the next question is no answer to that one.
    func settle() {
        question = nil
        read()
    }

    /// Ends the reading of answers.
    func close() {
        question = nil
        input = nil
    }

    /// Reads an answer, or text to drop; lines of a file, which nobody types, wait for their questions.
    private func read() {
        while let input, question != nil || !input.isAlwaysReady {
            guard let piece = input.next() else { break }
            if question != nil { take(String(decoding: piece.bytes, as: UTF8.self)) }
        }
        if question != nil, input?.isAtEnd == true { take(nil) }
    }

    /// Takes the person's line; nil for the end of the input.
    private func take(_ line: String?) {
        guard let question else { return }
        self.question = nil
        let text = line?.filter { !$0.isWhitespace }.lowercased() ?? ""
        switch question {
        case .compare: onAnswer(.same(["y", "yes"].contains(text)))
        case .enter where line == nil: onAnswer(.passkey(nil))
        case .enter:
            if let number = PairingAnswer.number(text) {
                onAnswer(.passkey(number))
            } else {
                Console.note(BondText.notSixDigits.message())
                ask(.enter)
            }
        }
    }

    private func prompt(_ text: String) {
        try? StandardStream.error.write(text)
        if !StandardStream.error.isTerminal { try? StandardStream.error.write("\n") }
    }

    private func tell(_ event: PairingEvent) {
        if isJSON { print(event.object.text + "\n") }
    }
}
