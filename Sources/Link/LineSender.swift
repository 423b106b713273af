// SPDX-License-Identifier: GPL-2.0-or-later

/// Sender of lines through a simulated module: whole, in order, and no faster than the subscribers accept them.
///
/// A line is requested only if there is a subscriber with room for it, so that the source of the lines waits and
/// nothing is lost. If the last subscriber leaves during a line, the line is sent to the next one from its beginning.
/// To be used on the loop's thread.
package final class LineSender {
    private let module: SimulatedModule
    private let next: () -> [UInt8]?
    private let onSent: ([UInt8]) -> Void
    private var line: [UInt8] = []
    private var rest: ArraySlice<UInt8> = []
    private var isPumping = false

    /// Number of lines that the module has taken to their end.
    package private(set) var lines = 0

    /// Creates a sender of the lines that `next` returns, each with its end; after a nil, `pump` must be called for the
    /// next line.
    ///
    /// `onSent` is called with each line that the module has accepted completely.
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

    /// Sends all lines that can be sent now; to be called when a central has subscribed, and when a line is available
    /// again.
    package func pump() {
        // `onRoom` may call this method from within the loop below, which then continues by itself.
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
