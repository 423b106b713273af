// SPDX-License-Identifier: GPL-2.0-or-later

/// The options of a request that are set, by their numbers in libcurl's interface, which never change: below 10,000 a
/// number, from there on a pointer, from 20,000 on a function.
package enum CurlOption: Int32, CaseIterable, Sendable {
    case address = 10002
    case proxy = 10004
    case sinkContext = 10001
    case sink = 20011
    case userAgent = 10018
    case lines = 10023
    case sslVersion = 32
    case post = 47
    case followRedirects = 52
    case bodyLength = 60
    case verifyPeer = 64
    case authorityFile = 10065
    case verifyHost = 81
    case authorityFolder = 10097
    case noSignals = 99
    case timeout = 155
    case connectTimeout = 156
    case copiedBody = 10165
    case protocols = 181
    case protocolNames = 10318

    /// The name in libcurl's interface, without `CURLOPT_`.
    package var name: String {
        switch self {
        case .address: "URL"
        case .proxy: "PROXY"
        case .sinkContext: "WRITEDATA"
        case .sink: "WRITEFUNCTION"
        case .userAgent: "USERAGENT"
        case .lines: "HTTPHEADER"
        case .sslVersion: "SSLVERSION"
        case .post: "POST"
        case .followRedirects: "FOLLOWLOCATION"
        case .bodyLength: "POSTFIELDSIZE"
        case .verifyPeer: "SSL_VERIFYPEER"
        case .authorityFile: "CAINFO"
        case .verifyHost: "SSL_VERIFYHOST"
        case .authorityFolder: "CAPATH"
        case .noSignals: "NOSIGNAL"
        case .timeout: "TIMEOUT_MS"
        case .connectTimeout: "CONNECTTIMEOUT_MS"
        case .copiedBody: "COPYPOSTFIELDS"
        case .protocols: "PROTOCOLS"
        case .protocolNames: "PROTOCOLS_STR"
        }
    }
}

/// What a function of libcurl answers (CURLcode).
struct CurlResult: Equatable, Sendable {
    /// The number.
    let rawValue: Int32

    /// The result of that number.
    init(_ rawValue: Int32) { self.rawValue = rawValue }

    /// CURLE_OK.
    static let done = CurlResult(0)
    /// CURLE_OUT_OF_MEMORY.
    static let noMemory = CurlResult(27)
    /// CURLE_UNKNOWN_OPTION: the library is older than the option.
    static let unknownOption = CurlResult(48)
    /// CURLE_SSL_CACERT_BADFILE: the file of authorities cannot be read.
    static let badAuthorityFile = CurlResult(77)
    /// CURLE_OPERATION_TIMEDOUT.
    static let timedOut = CurlResult(28)

    /// True where no connection came about: the name or the proxy's is unknown, or nobody is there (CURLE_COULDNT_RESOLVE_PROXY,
    /// CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT).
    var isUnreachable: Bool { (5...7).contains(rawValue) }

    /// True where the server's certificate is not that of its name, or no authority vouches for it
    /// (CURLE_PEER_FAILED_VERIFICATION, before libcurl 7.62 two numbers; CURLE_SSL_ISSUER_ERROR).
    var isRefusedCertificate: Bool { [51, 60, 83].contains(rawValue) }
}

/// What takes an answer as it comes, up to a bound.
final class CurlSink {
    /// What has come.
    private(set) var bytes: [UInt8] = []
    /// True once more came than is taken.
    private(set) var isOverfull = false
    private let limit: Int

    /// Takes `limit` bytes at most.
    init(limit: Int) { self.limit = limit }

    /// Takes a part; false where it is too much, and nothing of it is kept.
    func take(_ part: UnsafeRawBufferPointer) -> Bool {
        guard part.count <= limit - bytes.count else {
            isOverfull = true
            return false
        }
        // Sound: the part lives for the call, and is copied.
        unsafe bytes.append(contentsOf: part)
        return true
    }
}
