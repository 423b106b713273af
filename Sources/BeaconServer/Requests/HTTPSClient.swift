// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import SystemPackage
import Texts

/// What asks a server over HTTPS: one request at a time, on the thread of the caller.
///
/// The certificate is always checked, no redirect followed, no other protocol spoken, and answers are bounded.
package struct HTTPSClient {
    package enum Failure: Error, Equatable, Sendable {
        /// libcurl cannot be loaded, and what the loader says.
        case noLibrary(String)
        /// The library refuses an option, such as TLS: which, and why.
        case unfit(CurlOption, String)
        /// The name is unknown, or nobody is there.
        case unreachable(String)
        case timedOut
        /// The certificate is not the server's, or no authority vouches for it.
        case certificate(String)
        /// The file of authorities cannot be used.
        case authorityFile(String)
        /// The answer is longer than so many bytes.
        case tooLong(Int)
        /// The connection broke, or what was said is no HTTP.
        case broken(String)
    }

    package struct Answer: Equatable, Sendable {
        package var status: Int
        /// The bytes after the head.
        package var body: [UInt8]

        package init(status: Int, body: [UInt8]) { (self.status, self.body) = (status, body) }
    }

    /// The longest answer that is taken, in bytes.
    package static let longestAnswer = 1 << 20

    private static let httpsBit = 1 << 1
    /// CURL_SSLVERSION_TLSv1_2, which is the oldest that is spoken.
    private static let oldestTLS = 6

    private let library: CurlLibrary
    private let settings: ServerSettings
    private let token: AccessToken

    /// A client with the library that is loaded now.
    package init(
        _ settings: ServerSettings,
        token: AccessToken,
        libraryFile: String = CurlLibrary.fileName
    ) throws(Failure) {
        do throws(LoadedLibrary.Failure) {
            library = try CurlLibrary(fileName: libraryFile)
        } catch {
            throw .noLibrary(error.reason)
        }
        self.settings = settings
        self.token = token
    }

    /// Posts JSON to the address below the server's, and returns what is answered, whatever its status is.
    package func post(_ body: [UInt8], to name: String) throws(Failure) -> Answer {
        guard var easy = CurlLibrary.Easy(library) else { throw .broken(library.text(of: .noMemory)) }
        try restrict(easy)
        try check(.address, easy.set(.address, settings.address(name)))
        try check(.post, easy.set(.post, 1))
        try check(.copiedBody, easy.set(body: body))
        try check(.userAgent, easy.set(.userAgent, "blewedge"))
        // Without `Expect` the library waits for no permission to send what is longer.
        for line in ["Content-Type: application/json", "Accept: application/json", "Expect:", token.line] {
            try check(.lines, easy.add(line: line))
        }
        let sink = CurlSink(limit: Self.longestAnswer)
        let result = easy.perform(into: sink)
        if sink.isOverfull { throw .tooLong(Self.longestAnswer) }
        guard result == .done else { throw failure(result) }
        return Answer(status: easy.status, body: sink.bytes)
    }

    /// Sets what keeps a request to HTTPS with the server that is meant, and within its time.
    private func restrict(_ easy: borrowing CurlLibrary.Easy) throws(Failure) {
        try check(.noSignals, easy.set(.noSignals, 1))
        let named = easy.set(.protocolNames, "https")
        if named == .unknownOption {
            // Before libcurl 7.85.
            try check(.protocols, easy.set(.protocols, Self.httpsBit))
        } else {
            try check(.protocolNames, named)
        }
        try check(.followRedirects, easy.set(.followRedirects, 0))
        try check(.verifyPeer, easy.set(.verifyPeer, 1))
        try check(.verifyHost, easy.set(.verifyHost, 2))
        try check(.sslVersion, easy.set(.sslVersion, Self.oldestTLS))
        // An empty one is none, and the environment is not asked.
        try check(.proxy, easy.set(.proxy, settings.proxy ?? ""))
        try check(.connectTimeout, easy.set(.connectTimeout, Self.milliseconds(settings.connectTimeout)))
        try check(.timeout, easy.set(.timeout, Self.milliseconds(settings.timeout)))
        if let file = settings.authorityFile {
            try check(.authorityFile, easy.set(.authorityFile, file.string))
            // Else the system's folder of authorities would be believed too.
            try check(.authorityFolder, easy.set(.authorityFolder, nil))
        }
    }

    private func check(_ option: CurlOption, _ result: CurlResult) throws(Failure) {
        if result != .done { throw .unfit(option, library.text(of: result)) }
    }

    private func failure(_ result: CurlResult) -> Failure {
        let text = library.text(of: result)
        return switch result {
        case .timedOut: .timedOut
        case .badAuthorityFile: .authorityFile(settings.authorityFile?.string ?? text)
        case _ where result.isUnreachable: .unreachable(text)
        case _ where result.isRefusedCertificate: .certificate(text)
        default: .broken(text)
        }
    }

    /// At least one: 0 would be for ever.
    private static func milliseconds(_ time: Duration) -> Int { max(1, Int(Int32(clamping: time.inMilliseconds))) }
}
