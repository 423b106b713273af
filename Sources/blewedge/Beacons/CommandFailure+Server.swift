// SPDX-License-Identifier: GPL-2.0-or-later

import BeaconServer
import Control
import LinuxIO
import SystemPackage
import Texts

extension CommandFailure {
    init(_ fault: ServerAddress.Fault, in text: String) {
        let said: BeaconServerFaultText =
            switch fault {
            case .notHTTPS: .addressNotHTTPS
            case .host: .addressHost
            case .port: .addressPort
            // Omit the address from the message, because it may contain a password.
            case .user: .addressUser
            case .sign: .addressSign
            }
        self = fault == .user ? CommandFailure(.configuration, said) : CommandFailure(.configuration, said, text)
    }

    init(_ fault: ServerFault) {
        switch fault {
        case .token(let failure): self.init(failure)
        case .request(let failure): self.init(failure)
        case .http(let status): self.init(status: status)
        case .answer(let fault): self.init(.inputOutput, BeaconServerFaultText.answer, fault.description)
        case .tooSoon(let time): self.init(.timeout, BeaconServerFaultText.tooSoon, WallClock.universal(time))
        case .notInTestMode: self.init(.configuration, BeaconServerFaultText.notInTestMode)
        case .notAgreed(let address): self.init(.permission, BeaconServerFaultText.notAgreed, "\(address)")
        case .refused(let error): self.init(error)
        }
    }

    init(givenUp count: Int, _ fault: ServerFault) {
        let failure = CommandFailure(fault)
        self.init(failure.status, BeaconServerFaultText.givenUp, "\(count)", failure.cause, remedy: failure.remedy)
    }

    private init(_ failure: AccessToken.Failure) {
        switch failure {
        case .unreadable(let path, let error) where error.isForbidden:
            self.init(.permission, BeaconServerFaultText.tokenForbidden, "\(path)")
        case .unreadable(let path, let error):
            self.init(.configuration, BeaconServerFaultText.tokenUnreadable, "\(path)", "\(error)")
        case .foreign(let path, let owner):
            self.init(.permission, BeaconServerFaultText.tokenForeign, "\(path)", "\(owner)")
        case .open(let path, let mode):
            self.init(.permission, BeaconServerFaultText.tokenOpen, "\(path)", String(mode, radix: 8))
        case .garbled(let path): self.init(.configuration, BeaconServerFaultText.tokenGarbled, "\(path)")
        }
    }

    private init(_ failure: HTTPSClient.Failure) {
        switch failure {
        case .noLibrary where !LoadedLibrary.isPossible: self.init(.unavailable, BeaconServerFaultText.noLoader)
        case .noLibrary(let reason):
            self.init(.unavailable, BeaconServerFaultText.noLibrary, reason, CurlLibrary.packageName)
        case .unfit(let option, let reason):
            self.init(.unavailable, BeaconServerFaultText.unfit, option.name, reason)
        case .unreachable(let reason): self.init(.timeout, BeaconServerFaultText.unreachable, reason)
        case .timedOut: self.init(.timeout, BeaconServerFaultText.timedOut)
        case .certificate(let reason): self.init(.unavailable, BeaconServerFaultText.certificate, reason)
        case .authorityFile(let file): self.init(.configuration, BeaconServerFaultText.authorityFile, file)
        case .tooLong(let limit): self.init(.inputOutput, BeaconServerFaultText.tooLong, "\(limit)")
        case .broken(let reason): self.init(.inputOutput, BeaconServerFaultText.broken, reason)
        }
    }

    private init(status: Int) {
        let (said, exit): (BeaconServerFaultText, ExitStatus) =
            switch status {
            case 300..<400: (.httpRedirect, .configuration)
            case 401, 403: (.httpDenied, .permission)
            case 408, 429, 500..<600: (.httpLater, .timeout)
            default: (.http, .configuration)
            }
        self.init(exit, said, "\(status)")
    }

    private init(_ error: ServerError) {
        switch error {
        case .noRegions: self.init(.unavailable, BeaconServerFaultText.noRegions)
        // A server never sends this error: see `ServerFault.tooSoon`.
        case .tooSoon: self.init(.timeout, BeaconServerFaultText.tooSoon, "")
        case .invalidApplication: self.init(.permission, BeaconServerFaultText.invalidApplication)
        case .invalidRegion: self.init(.usage, BeaconServerFaultText.invalidRegion)
        case .invalidBeacon: self.init(.usage, BeaconServerFaultText.invalidBeacon)
        case .serverFailed: self.init(.timeout, BeaconServerFaultText.serverFailed)
        case .unreachable: self.init(.timeout, BeaconServerFaultText.serverUnreachable)
        }
    }
}

extension ServerAnswerFault: ReportableContents {
    static func unreadable(_ path: FilePath, _ error: Errno) -> CommandFailure {
        error.isForbidden
            ? .init(.permission, BeaconServerFaultText.forbidden, "\(path)")
            : .init(.inputOutput, BeaconServerFaultText.unreadable, "\(path)", "\(error)")
    }

    static func unwritable(_ path: FilePath, _ error: Errno) -> CommandFailure {
        .init(path, error, BeaconServerFaultText.notKept, forbidden: .notPermitted)
    }

    func failure(in path: FilePath) -> CommandFailure {
        .init(.configuration, BeaconServerFaultText.garbled, "\(path)", description)
    }
}
