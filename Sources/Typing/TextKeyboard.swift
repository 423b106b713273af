// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO
import Synchronization
package import SystemPackage

/// A keyboard without a kernel: what a reader with a given layout would see of the keystrokes, as text.
///
/// The typing thread writes; `takeText` is for another thread, which `arrival` wakes. It knows characters of one
/// keystroke, as all of the built-in layouts are; any other key is shown by its name in brackets.
package struct TextKeyboard: Sendable {
    /// What both threads share.
    package final class Screen: Sendable {
        fileprivate struct State: Sendable {
            var text = ""
            var isShifted = false
            var events: UInt64 = 0
            var writes: UInt64 = 0
        }

        fileprivate let state = Mutex(State())
        /// Woken after each write.
        package let arrival: Waker

        fileprivate init() throws(Errno) {
            arrival = try Waker()
        }

        /// The events that were written since the start, and in how many writes.
        package var counts: (events: UInt64, writes: UInt64) { state.withLock { ($0.events, $0.writes) } }

        /// What was typed since the last call.
        package func takeText() -> String {
            state.withLock { state in
                defer { state.text = "" }
                return state.text
            }
        }
    }

    /// Where the text goes.
    package let screen: Screen
    private let characters: [KeyboardLayout.Stroke: Unicode.Scalar]

    /// A keyboard whose reader uses `layout`.
    package init(layout: KeyboardLayout) throws(Errno) {
        screen = try Screen()
        var characters: [KeyboardLayout.Stroke: Unicode.Scalar] = [
            KeyboardLayout.Stroke(.enter): "\n", KeyboardLayout.Stroke(.tab): "\t",
        ]
        for (character, strokes) in layout.strokes where strokes.count == 1 { characters[strokes[0]] = character }
        self.characters = characters
    }

    /// Takes all that is written.
    package func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        let bytes = events.byteCount
        var parsed: [EventNode.Event] = []
        EventNode.parse(events, into: &parsed)
        screen.state.withLock { state in
            state.events += UInt64(parsed.count)
            state.writes += 1
            for event in parsed where event.type == InputEvent.key {
                let key = KeyCode(rawValue: event.code)
                if key == .leftShift {
                    state.isShifted = event.value != 0
                } else if event.value == 1 {
                    let stroke = KeyboardLayout.Stroke(key, state.isShifted ? .shift : [])
                    if let character = characters[stroke] {
                        state.text.unicodeScalars.append(character)
                    } else {
                        state.text += "[\(stroke)]"
                    }
                }
            }
        }
        screen.arrival.wake()
        return .done(bytes)
    }
}
