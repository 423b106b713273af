// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Devices
import LinuxIO
import SystemPackage
import Texts

/// Keeper of the file with the selected device: saves the selection, and follows changes by other processes.
final class ChoiceKeeper {
    /// Handler called when the selection in the file has changed or was removed.
    var onChange: ((SelectedDevice?) -> Void)?
    /// Handler for the reason why the file cannot be read; the earlier selection remains in effect.
    var onFault: ((Reason) -> Void)?
    let store: ChoiceStore
    /// Reason why the last attempt to read the file failed; nil if it succeeded.
    private(set) var fault: Reason?

    private let follower: ChoiceFollower?

    /// Creates a keeper; with `follows`, the keeper reads the file and watches it for changes.
    init(_ store: ChoiceStore, follows: Bool, on loop: EventLoop) throws(CommandFailure) {
        self.store = store
        if follows { store.upgrade() }
        follower = follows ? try reporting(ChoiceFollower.init, store, loop) : nil
        follower?.onChange = { [unowned self] result in
            switch result {
            case .success(let kept):
                fault = nil
                onChange?(kept)
            case .failure(let failure): onFault?(note(failure))
            }
        }
    }

    /// Returns the selection in the file; nil if there is none, or if the file cannot be read or is not followed.
    func read() -> SelectedDevice? {
        switch follower?.read() {
        case .success(let kept): return kept
        case .failure(let failure):
            _ = note(failure)
            return nil
        case nil: return nil
        }
    }

    /// Writes the selection to its file.
    ///
    /// If the file is not writable, returns a note that the selection applies to this run only.
    func write(_ choice: SelectedDevice) throws(CommandFailure) -> Message? {
        do throws(ChoiceStore.Failure) {
            try store.write(choice)
            fault = nil
            return nil
        } catch {
            guard case .unwritable(_, let cause) = error, cause.forbidsWriting else { throw CommandFailure(error) }
            fault = nil
            return LogText.chosenUnkept.message(choice.label, CommandFailure(error).cause)
        }
    }

    func forget() throws(CommandFailure) {
        try reporting(store.forget)
        fault = nil
    }

    func end() { follower?.end() }

    private func note(_ failure: ChoiceStore.Failure) -> Reason {
        let reason = Reason(CommandFailure(failure))
        fault = reason
        return reason
    }
}

extension Errno {
    fileprivate var forbidsWriting: Bool {
        self == .readOnlyFileSystem || self == .permissionDenied || self == .notPermitted
    }
}
