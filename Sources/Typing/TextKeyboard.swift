// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO
import Synchronization
package import SystemPackage

/// Keyboard without a kernel device.
///
/// It converts the keystrokes into the text that an application with the given layout would receive. The typing thread
/// writes; another thread, which is woken by `arrival`, calls `takeText`. Only characters that need a single keystroke
/// are recognised; any other key is shown as its name in brackets.
package struct TextKeyboard: Sendable {
    /// State shared by both threads.
    package final class Screen: Sendable {
        fileprivate struct State: Sendable {
            var text = ""
            var held: KeyModifiers = []
            var events: UInt64 = 0
            var writes: UInt64 = 0
        }

        fileprivate let state = Mutex(State())
        /// Waker that is signalled after each write.
        package let arrival: Waker

        fileprivate init() throws(Errno) {
            arrival = try Waker()
        }

        package var counts: (events: UInt64, writes: UInt64) { state.withLock { ($0.events, $0.writes) } }

        /// Returns the text typed since the last call.
        package func takeText() -> String {
            state.withLock { state in
                defer { state.text = "" }
                return state.text
            }
        }

        /// Runs `body` while writes are blocked: the typing thread waits until `body` has returned.
        package func whileNothingIsWritten(_ body: () -> Void) {
            state.withLock { _ in body() }
        }
    }

    /// Screen that receives the text, unless it goes to an output.
    package let screen: Screen
    /// Lines that go to an output; nil if the text stays on the screen.
    package let lines: LineBuffer?
    private let characters: [KeyboardLayout.Stroke: Unicode.Scalar]

    private static let modifiers: [KeyCode: KeyModifiers] = [
        .leftShift: .shift, .rightAlt: .altGr, .leftControl: .control, .leftAlt: .alt, .leftMeta: .meta,
    ]

    /// Creates a keyboard for the given `layout`; the text goes to `lines`, if present, instead of the screen.
    package init(layout: KeyboardLayout, lines: LineBuffer? = nil) throws(Errno) {
        screen = try Screen()
        self.lines = lines
        var characters: [KeyboardLayout.Stroke: Unicode.Scalar] = [
            KeyboardLayout.Stroke(.enter): "\n", KeyboardLayout.Stroke(.tab): "\t",
        ]
        for (character, strokes) in layout.strokes where strokes.count == 1 { characters[strokes[0]] = character }
        self.characters = characters
    }

    package func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        let bytes = events.byteCount
        var parsed: [EventNode.Event] = []
        EventNode.parse(events, into: &parsed)
        screen.state.withLock { state in
            state.events += UInt64(parsed.count)
            state.writes += 1
            for event in parsed where event.type == InputEvent.key {
                let key = KeyCode(rawValue: event.code)
                if let modifier = Self.modifiers[key] {
                    if event.value == 0 { state.held.remove(modifier) } else { state.held.insert(modifier) }
                } else if event.value == 1 {
                    let stroke = KeyboardLayout.Stroke(key, state.held)
                    if let character = characters[stroke] {
                        state.text.unicodeScalars.append(character)
                    } else {
                        state.text += "[\(stroke)]"
                    }
                }
            }
            if let lines {
                lines.type(state.text)
                state.text = ""
            }
        }
        // The lines become available only after `settle`, which follows the write and then signals `arrival`.
        if lines == nil { screen.arrival.wake() }
        return .done(bytes)
    }
}
