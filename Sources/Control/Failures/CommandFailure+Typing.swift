// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import SystemPackage
package import Texts
package import Typing

extension CommandFailure {
    /// Failure to report if too many keys requested by clients are waiting to be typed.
    package static let keysWait = CommandFailure(.timeout, KeyboardFaultText.tooManyWait)
}

extension TypingError: ReportableError {
    package var failure: CommandFailure {
        switch self {
        case .layout(let name, let error):
            .init(.configuration, error.text, name, "\(error)", PlainText.layouts.message())
        case .console(let layout, let terminal, let error):
            .init(
                error.isForbidden ? .permission : .configuration,
                FileFaultText.consoleUnreadable,
                layout,
                terminal,
                "\(error)",
                remedy: (error.isForbidden ? RemedyText.rootOrTTY : .nameConsole).message()
            )
        case .tableUnreadable(let source, let error):
            .init(.configuration, FileFaultText.tableUnreadable, source, "\(error)", TableSource.names)
        case .snippetsUnreadable(let path, let error):
            .init(error, else: .configuration, FileFaultText.snippetsUnreadable, path, fix: .daemonMayRead)
        case .notText(let path): .init(.configuration, FileFaultText.noText, path)
        case .faulty(let source, let reason): .init(.configuration, FileFaultText.faulty, source, reason)
        case .snippetWithoutBarcodes(let title):
            .init(.configuration, FileFaultText.snippetWithoutScans, title.debugDescription)
        case .snippetNotTypable(let title, let fault):
            .init(.configuration, FileFaultText.snippetNotTypable, title.debugDescription, "\(fault)")
        case .snippetBarcodes(let fault): .init(.configuration, FileFaultText.snippetsFaulty, "\(fault)")
        case .keypad(let error): .init(.configuration, KeyboardFaultText.notDeclared, "\(error)")
        case .unknownSnippet(let title, let known):
            .init(
                .usage,
                KeyboardFaultText.noSnippet,
                title.debugDescription,
                known.isEmpty ? "-" : known.joined(separator: ", ")
            )
        case .notTypable(let purpose, let obstacle):
            .init(.configuration, KeyboardFaultText.notTypable, purpose, obstacle.message)
        }
    }
}

extension XKBKeymap.Failure {
    fileprivate var text: FileFaultText {
        switch self {
        case .noLibrary where !LoadedLibrary.isPossible: .layoutInStaticForm
        case .noLibrary, .noData: .layoutWithoutLibrary
        case .malformedName: .layoutMalformed
        case .unknownLayout: .layoutUnknown
        }
    }
}

extension TypingError.Obstacle {
    fileprivate var message: Message {
        switch self {
        case .tooManyKeys: KeyboardFaultText.tooManyKeys.message()
        case .notDeclared: KeyboardFaultText.keyMissing.message()
        case .layoutLacks(let character, let layout): KeyboardFaultText.layoutLacks.message(layout, "\(character)")
        case .table(let error): Message(detail: "\(error)")
        }
    }
}

extension KeyboardError: ReportableError {
    package var failure: CommandFailure {
        switch self {
        case .notMade(let error): Self.making(error)
        case .forbiddenKeys(let keys): .init(.configuration, KeyboardFaultText.keysForbidden, "\(keys)")
        case .notWritten(let error): Self.writing(error)
        case .noEventNode: .init(.unavailable, KeyboardFaultText.noEventNode)
        case .eventsUnreadable(let node, let error):
            .init(error, else: .inputOutput, KeyboardFaultText.eventsUnreadable, node, fix: .installRule)
        case .ringTaken: .init(.internal, KeyboardFaultText.ringTaken)
        case .noDataPath(let reason): .init(.internal, KeyboardFaultText.noDataPath, reason)
        case .noGate(let terminal, let error):
            .init(
                error == .permissionDenied ? .permission : .unavailable,
                KeyboardFaultText.gateNotKept,
                "\(terminal)",
                ForegroundTerminal.path,
                "\(error)"
            )
        }
    }

    /// Creates the error for a failure to create a keyboard, from the errors that `drivers/input/misc/uinput.c`
    /// returns.
    private static func making(_ error: Errno) -> CommandFailure {
        switch error.recovery(of: .keyboard) {
        case .forbidden: .init(.permission, KeyboardFaultText.notPermitted, UInputDevice.path)
        case .absent: .init(.unavailable, KeyboardFaultText.missing, UInputDevice.path)
        // The node exists, but the kernel module is missing.
        case .rebuild where error == .operationNotSupportedByDevice || error == .noSuchAddressOrDevice:
            .init(.unavailable, KeyboardFaultText.missing, UInputDevice.path)
        case .unfit: .init(.unavailable, KeyboardFaultText.tooOld)
        default: CommandFailure(.inputOutput, KeyboardFaultText.notMade, UInputDevice.path, "\(error)")
        }
    }

    private static func writing(_ error: Errno) -> CommandFailure {
        switch error.recovery(of: .keyboard) {
        case .rebuild where error == .operationNotSupportedByDevice: .init(.inputOutput, KeyboardFaultText.gone)
        case .unfit: .init(.inputOutput, KeyboardFaultText.malformed)
        case .forbidden:
            .init(
                .inputOutput,
                KeyboardFaultText.forbidden,
                error == .notPermitted ? "EPERM" : "EACCES",
                UInputDevice.path
            )
        default: CommandFailure(.inputOutput, KeyboardFaultText.takesNoMore, "\(error)")
        }
    }
}
