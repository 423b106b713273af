// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage

/// Watches the file that stores the selected device, whichever process writes it (LK-18).
///
/// On a kernel without inotify, the file is polled every 2 s.
package final class ChoiceFollower {
    package struct WatchError: Error, Equatable, Sendable {
        package var directory: FilePath
        package var error: Errno
    }

    package var onChange: ((Result<SelectedDevice?, ChoiceStore.Failure>) -> Void)?

    private let store: ChoiceStore
    private let loop: EventLoop
    private var watch: FileWatch?
    private var registration: EventLoop.Registration?
    private static let lookInterval = Duration.seconds(2)
    private let lookTimer = LoopTimer()
    private var mark: FileSystem.Mark?
    private let retryTimer = LoopTimer()
    private var backoff = Backoff(.seconds(1)...Duration.seconds(60))
    /// Last reported failure; nil if the last read succeeded.
    private var failure: ChoiceStore.Failure?

    /// Starts to watch the file's directory, which is created if it is missing.
    package init(_ store: ChoiceStore, on loop: EventLoop) throws(WatchError) {
        self.store = store
        self.loop = loop
        let directory = store.path.removingLastComponent()
        do throws(Errno) {
            try FileSystem.makeDirectory(directory, mode: 0o755)
            let made: FileWatch
            do throws(Errno) {
                made = try FileWatch(directory: directory)
            } catch {
                guard error == .noFunction else { throw error }
                mark = FileSystem.mark(of: store.path.string)
                lookLater()
                return
            }
            registration = try loop.watch(made.descriptor, for: .readable) { [unowned self] _ in look() }
            watch = consume made
        } catch {
            throw WatchError(directory: directory, error: error)
        }
    }

    /// Reads the selected device from the file; the result is nil if no device is selected.
    ///
    /// A file that cannot be read is read again later, and `onChange` is called if the result has changed. This is
    /// necessary because the cause, such as a lack of descriptors or a missing permission, can disappear without a
    /// change of the file.
    package func read() -> Result<SelectedDevice?, ChoiceStore.Failure> {
        retryTimer.cancel()
        do throws(ChoiceStore.Failure) {
            let choice = try store.read()
            failure = nil
            backoff.reset()
            return .success(choice)
        } catch {
            failure = error
            if case .unreadable = error { readLater() }
            return .failure(error)
        }
    }

    private func readLater() {
        retryTimer.set(on: loop, after: backoff.next()) { [unowned self] in
            let before = failure
            let result = read()
            // Report the same failure only once, however long it lasts.
            if failure == nil || failure != before { onChange?(result) }
        }
    }

    package func end() {
        retryTimer.cancel()
        lookTimer.cancel()
        if let registration, let watch = watch.take() { loop.unwatch(registration, watch.descriptor) }
        registration = nil
    }

    private func lookLater() {
        lookTimer.set(on: loop, after: Self.lookInterval) { [unowned self] in
            lookLater()
            let found = FileSystem.mark(of: store.path.string)
            guard found != mark else { return }
            mark = found
            onChange?(read())
        }
    }

    private func look() {
        guard let changes = try? watch?.take(), let name = store.path.lastComponent?.string else { return }
        // After the directory was removed, no more changes can follow; the last selection remains valid.
        if changes.isGone { return end() }
        if changes.mayConcern(name) { onChange?(read()) }
    }
}
