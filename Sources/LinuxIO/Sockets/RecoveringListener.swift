// SPDX-License-Identifier: GPL-2.0-or-later

package import SystemPackage

/// A `LocalListener` on an event loop that accepts clients until it is freed.
///
/// After a failure, most likely because no descriptor is left, it pauses and tries again, without end. It is used on the
/// loop's thread.
package final class RecoveringListener {
    /// The most clients that are accepted in a row before the loop serves its other descriptors.
    private static let batch = 16

    private let listener: LocalListener
    private let loop: EventLoop
    private let pause: Duration
    private let onClient: (consuming LocalStream) throws(Errno) -> Void
    private var registration: EventLoop.Registration?
    private let timer = LoopTimer()

    /// Listens at `path`, as `LocalListener` does, and passes each client to `onClient`.
    ///
    /// An error that `onClient` throws costs its client, and begins the pause.
    package init(
        at path: String,
        mode: UInt32,
        pause: Duration = .seconds(1),
        on loop: EventLoop,
        onClient: @escaping (consuming LocalStream) throws(Errno) -> Void
    ) throws(Errno) {
        listener = try LocalListener(at: path, mode: mode)
        self.loop = loop
        self.pause = pause
        self.onClient = onClient
        try watch()
    }

    deinit { unwatch() }

    private func watch() throws(Errno) {
        registration = try loop.watch(listener.descriptor, for: .readable) { [weak self] _ in self?.accept() }
    }

    private func unwatch() {
        if let registration = registration.take() { loop.unwatch(registration, listener.descriptor) }
    }

    private func accept() {
        do throws(Errno) {
            for _ in 0..<Self.batch {
                guard let client = try listener.accept() else { return }
                try onClient(client)
            }
        } catch {
            // Clients wait in the kernel's queue, and do not wake the loop meanwhile.
            unwatch()
            watchLater()
        }
    }

    private func watchLater() {
        timer.set(on: loop, after: pause) { [unowned self] in
            do throws(Errno) { try watch() } catch { watchLater() }
        }
    }
}
