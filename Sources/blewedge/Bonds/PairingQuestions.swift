// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// Shows the questions and events of a pairing, and reads the user's answers from standard input.
///
/// They are printed on standard error, or as JSON lines.
final class PairingQuestions {
    private let loop: EventLoop
    private let isJSON: Bool
    private let print: (String) -> Void
    private let onAnswer: (PairingAnswer) -> Void
    private var input: LineInput?
    /// Question that the user has not answered yet; nil if there is none.
    private var question: ManagedPairing.Question?

    /// Creates a dialogue in which no question has been asked yet; `print` writes a line for programs.
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

    /// Asks a question; `onAnswer` is called with the answer, immediately or later, unless `settle` is called first.
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

    /// Withdraws the question; text that is typed before the next question is discarded.
    func settle() {
        question = nil
        read()
    }

    /// Stops reading answers.
    func close() {
        question = nil
        input = nil
    }

    /// Reads an answer, or discards text that was typed while there was no question.
    ///
    /// If the input is a file, its lines stay unread until the next question.
    private func read() {
        while let input, question != nil || !input.isAlwaysReady {
            guard let piece = input.next() else { break }
            if question != nil { take(String(decoding: piece.bytes, as: UTF8.self)) }
        }
        if question != nil, input?.isAtEnd == true { take(nil) }
    }

    /// Handles a line that the user has entered; nil means the end of the input.
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
