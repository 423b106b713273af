// SPDX-License-Identifier: GPL-2.0-or-later

/// Notifies lines through a simulated module: whole, in order, and no faster than those who want them take them.
///
/// A line is asked for only when there is somebody to send it to and room for it, so that whatever the lines come from is
/// held up and nothing is lost. A line that nobody is left for is sent to the next one from its beginning. To be used on
/// the loop's thread.
package final class LineSender {
    private let module: SimulatedModule
    private let next: () -> [UInt8]?
    private let onSent: ([UInt8]) -> Void
    private var line: [UInt8] = []
    private var rest: ArraySlice<UInt8> = []
    private var isPumping = false

    /// How many lines were handed over as a whole.
    package private(set) var lines = 0

    /// Sends what `next` returns, each line with its end; nil means none now: call `pump` when there is one.
    ///
    /// `onSent` hears of each line that the module has taken as a whole.
    package init(
        _ module: SimulatedModule,
        next: @escaping () -> [UInt8]?,
        onSent: @escaping ([UInt8]) -> Void = { _ in }
    ) {
        self.module = module
        self.next = next
        self.onSent = onSent
        module.onRoom = { [weak self] in self?.pump() }
    }

    /// Sends all that can be sent now; to be called when somebody wants values, and when there is a line again.
    package func pump() {
        // A call from `onRoom`, made while the loop below sends: that loop goes on by itself.
        guard !isPumping else { return }
        isPumping = true
        defer {
            isPumping = false
            if !module.isSubscribed { rest = line[...] }
        }
        while module.isSubscribed {
            if rest.isEmpty {
                guard let line = next() else { return }
                self.line = line
                rest = line[...]
            }
            while !rest.isEmpty {
                let part = rest.prefix(max(1, module.longestValue))
                guard module.isSubscribed, module.notify(Array(part)) else { return }
                rest.removeFirst(part.count)
            }
            lines += 1
            let sent = line
            line = []
            onSent(sent)
        }
    }
}
