// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Devices
import LinuxIO
import SystemPackage
import Texts

/// The choice of the device in its file: kept for the next run, and followed where another process changes it.
final class ChoiceKeeper {
    /// Told of a choice that was made in the file, or forgotten.
    var onChange: ((SelectedDevice?) -> Void)?
    /// Told why the file cannot be read; the earlier choice stays in force.
    var onFault: ((Reason) -> Void)?
    let store: ChoiceStore
    /// The reason why the last attempt to read the file failed; nil if it did not.
    private(set) var fault: Reason?

    private let follower: ChoiceFollower?

    /// Reads the file where it is followed, and watches it from then on.
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

    /// The choice in the file; nil for none, for one that cannot be read, and where the file is not followed.
    func read() -> SelectedDevice? {
        switch follower?.read() {
        case .success(let kept): return kept
        case .failure(let failure):
            _ = note(failure)
            return nil
        case nil: return nil
        }
    }

    /// Writes the choice to its file; where that may not be written, returns the note that it holds for this run only.
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
