// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import SystemPackage
import Texts

/// An HTTPS client for a beacon server; it makes one request at a time, on the caller's thread.
///
/// The client always verifies the certificate, does not follow redirects, uses no other protocol, and limits the length
/// of responses.
package struct HTTPSClient {
    package enum Failure: Error, Equatable, Sendable {
        /// libcurl cannot be loaded; the value is the loader's error text.
        case noLibrary(String)
        /// The library rejects an option, such as the TLS version; the values are the option and the error text.
        case unfit(CurlOption, String)
        /// The server could not be reached, so nothing was sent.
        ///
        /// Its name cannot be resolved, or the connection attempt failed or timed out.
        case unreachable(String)
        case timedOut
        /// The certificate does not match the server's name, or is not signed by a trusted authority.
        case certificate(String)
        /// The CA file cannot be used.
        case authorityFile(String)
        /// The response is longer than this number of bytes.
        case tooLong(Int)
        /// The connection broke, or the response is not HTTP.
        case broken(String)
    }

    package struct Answer: Equatable, Sendable {
        package var status: Int
        /// Response body.
        package var body: [UInt8]

        package init(status: Int, body: [UInt8]) { (self.status, self.body) = (status, body) }
    }

    /// Maximum length of a response, in bytes.
    package static let longestAnswer = 1 << 20

    private static let httpsBit = 1 << 1
    /// CURL_SSLVERSION_TLSv1_2: the oldest TLS version that is accepted.
    private static let oldestTLS = 6

    private let library: CurlLibrary
    private let settings: ServerSettings
    private let token: AccessToken

    /// Creates a client, and loads the library.
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

    /// Posts JSON to the path `name` below the server's address.
    ///
    /// Returns the response, whatever its status is.
    package func post(_ body: [UInt8], to name: String) throws(Failure) -> Answer {
        guard var easy = CurlLibrary.Easy(library) else { throw .broken(library.text(of: .noMemory)) }
        try restrict(easy)
        try check(.address, easy.set(.address, settings.address(name)))
        try check(.post, easy.set(.post, 1))
        try check(.copiedBody, easy.set(body: body))
        try check(.userAgent, easy.set(.userAgent, "blewedge"))
        // The empty `Expect` header prevents libcurl from waiting for `100 Continue` before it sends a long body.
        for line in ["Content-Type: application/json", "Accept: application/json", "Expect:", token.line] {
            try check(.lines, easy.add(line: line))
        }
        let sink = CurlSink(limit: Self.longestAnswer)
        let result = easy.perform(into: sink)
        if sink.isOverfull { throw .tooLong(Self.longestAnswer) }
        guard result == .done else {
            // Nothing was sent, so the server cannot have received the request.
            if result == .timedOut, easy.requestSize == 0 { throw .unreachable(library.text(of: result)) }
            throw failure(result)
        }
        return Answer(status: easy.status, body: sink.bytes)
    }

    /// Restricts a request to verified HTTPS without redirects or other protocols, and sets its proxy and time-outs.
    private func restrict(_ easy: borrowing CurlLibrary.Easy) throws(Failure) {
        try check(.noSignals, easy.set(.noSignals, 1))
        let named = easy.set(.protocolNames, "https")
        if named == .unknownOption {
            // libcurl before 7.85 has only this option for the permitted protocols.
            try check(.protocols, easy.set(.protocols, Self.httpsBit))
        } else {
            try check(.protocolNames, named)
        }
        try check(.followRedirects, easy.set(.followRedirects, 0))
        try check(.verifyPeer, easy.set(.verifyPeer, 1))
        try check(.verifyHost, easy.set(.verifyHost, 2))
        try check(.sslVersion, easy.set(.sslVersion, Self.oldestTLS))
        // An empty value means that no proxy is used, even if the environment specifies one.
        try check(.proxy, easy.set(.proxy, settings.proxy ?? ""))
        try check(.connectTimeout, easy.set(.connectTimeout, Self.milliseconds(settings.connectTimeout)))
        try check(.timeout, easy.set(.timeout, Self.milliseconds(settings.timeout)))
        if let file = settings.authorityFile {
            try check(.authorityFile, easy.set(.authorityFile, file.string))
            // Without this, the system's CA directory would be trusted as well.
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

    /// Returns a time-out in milliseconds; it is at least 1, because 0 selects libcurl's default.
    private static func milliseconds(_ time: Duration) -> Int { max(1, Int(Int32(clamping: time.inMilliseconds))) }
}
