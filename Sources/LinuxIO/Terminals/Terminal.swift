// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
import Glibc
package import SystemPackage

/// The terminal at standard input, taken over for pages: each key, even those of signals, comes at once and is not
/// shown.
///
/// Whoever takes it over gives it back by `restore`, at every end.
package final class Terminal {
    /// SIGWINCH: the terminal's size has changed.
    package static let windowChanged = SIGWINCH
    /// SIGCONT: the program goes on after a stop.
    package static let goneOn = SIGCONT
    /// SIGHUP: the terminal is gone.
    package static let hungUp = SIGHUP

    /// Readable when keys were pressed, and at the terminal's end.
    package let descriptor: Descriptor
    private let before: termios
    private var isRaw = false

    /// The terminal at standard input; nothing is changed yet.
    ///
    /// Throws `inappropriateIOCTLForDevice` where none is. The corresponding C function is `tcgetattr`.
    package init() throws(Errno) {
        var settings = termios()
        // Sound: the structure is a local that outlives the call.
        _ = try SystemCall.run { unsafe tcgetattr(0, &settings) }
        before = settings
        // The descriptor blocks, as other users of this terminal expect: it is read once each time that it is readable.
        descriptor = try Descriptor.forStandardInput()
    }

    /// Takes the terminal over; what was typed before is dropped.
    ///
    /// A virtual terminal that nobody had open keeps what was typed into it, and hands it over with the next key:
    /// barcodes that came while no program read, in front of a person's Enter.
    ///
    /// The corresponding C functions are `tcsetattr` and `tcflush`.
    package func takeOver() throws(Errno) {
        var raw = before
        raw.c_iflag &= ~tcflag_t(BRKINT | ICRNL | INLCR | IGNCR | INPCK | ISTRIP | IXON)
        raw.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | IEXTEN | ISIG)
        let settings = raw
        try set(settings)
        isRaw = true
        _ = tcflush(0, TCIFLUSH)
    }

    /// Gives the terminal back as it was; keys typed ahead do not reach the shell.
    package func restore() {
        guard isRaw else { return }
        isRaw = false
        _ = tcflush(0, TCIFLUSH)
        // A terminal that is gone needs nothing.
        try? set(before)
    }

    private func set(_ settings: termios) throws(Errno) {
        var settings = settings
        // Sound: as in init.
        _ = try SystemCall.run { unsafe tcsetattr(0, TCSADRAIN, &settings) }
    }
}
