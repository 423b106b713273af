// SPDX-License-Identifier: GPL-2.0-or-later

import CCurl
import Glibc
package import LinuxIO

/// The functions of libcurl, which is loaded at run time (D-31).
///
/// Their types are those in `<curl/curl.h>`, which is not needed for building. The library's ABI has not changed since
/// its file name became `libcurl.so.4` (2006), and a library with another ABI has another file name.
@safe
package struct CurlLibrary {
    /// File name of the library, as passed to the loader.
    package static let fileName = "libcurl.so.4"
    package static let packageName = "libcurl4"

    private typealias GlobalInit = @convention(c) (Int) -> Int32
    private typealias New = @convention(c) () -> UnsafeMutableRawPointer?
    private typealias Release = @convention(c) (UnsafeMutableRawPointer) -> Void
    private typealias Perform = @convention(c) (UnsafeMutableRawPointer) -> Int32
    private typealias Append =
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>) -> UnsafeMutableRawPointer?
    private typealias Text = @convention(c) (Int32) -> UnsafePointer<CChar>?

    private let loaded: LoadedLibrary
    private let new: New
    private let release: Release
    private let performRequest: Perform
    private let appendLine: Append
    private let releaseLines: Release
    private let describe: Text
    private let set: UnsafeMutableRawPointer
    private let get: UnsafeMutableRawPointer

    /// Loads the library and looks up its functions (C: `dlopen`, `dlsym` and `curl_global_init`).
    package init(fileName: String = Self.fileName) throws(LoadedLibrary.Failure) {
        let loaded = try LoadedLibrary(fileName)
        self.loaded = loaded
        // Sound: the types match the library's header, C enumerations are passed as int, and the library is never
        // unloaded.
        unsafe new = unsafeBitCast(try loaded.function("curl_easy_init"), to: New.self)
        unsafe release = unsafeBitCast(try loaded.function("curl_easy_cleanup"), to: Release.self)
        unsafe performRequest = unsafeBitCast(try loaded.function("curl_easy_perform"), to: Perform.self)
        unsafe appendLine = unsafeBitCast(try loaded.function("curl_slist_append"), to: Append.self)
        unsafe releaseLines = unsafeBitCast(try loaded.function("curl_slist_free_all"), to: Release.self)
        unsafe describe = unsafeBitCast(try loaded.function("curl_easy_strerror"), to: Text.self)
        unsafe set = try loaded.function("curl_easy_setopt")
        unsafe get = try loaded.function("curl_easy_getinfo")
        let begin = unsafe unsafeBitCast(try loaded.function("curl_global_init"), to: GlobalInit.self)
        // 3 is CURL_GLOBAL_DEFAULT, which includes TLS.
        let status = begin(3)
        guard status == 0 else { throw LoadedLibrary.Failure(text(of: CurlResult(status))) }
    }

    /// Returns the number of an option, or 0 for an unknown option.
    ///
    /// Returns nil before libcurl 7.73, which introduced `curl_easy_option_by_name`.
    package func number(ofOption name: String) -> Int32? {
        guard let find = unsafe try? loaded.function("curl_easy_option_by_name") else { return nil }
        // Sound: the function has this type, and the name outlives the call.
        return unsafe blewedge_curl_option(find, name)
    }

    /// Returns the library's description of a result code.
    func text(of result: CurlResult) -> String {
        // Sound: the texts are constants of the library.
        unsafe describe(result.rawValue).map { unsafe String(cString: $0) } ?? "\(result.rawValue)"
    }

    /// A request made with the library, which calls it an easy handle.
    @safe
    struct Easy: ~Copyable {
        private let library: CurlLibrary
        private let handle: UnsafeMutableRawPointer
        private var lines: UnsafeMutableRawPointer?

        /// Creates a request; fails if there is not enough memory (C: `curl_easy_init`).
        init?(_ library: CurlLibrary) {
            guard let handle = unsafe library.new() else { return nil }
            self.library = library
            unsafe self.handle = handle
            unsafe lines = nil
        }

        deinit {
            // Sound: this object owns both; the request is freed before the header lines to which it refers.
            unsafe library.release(handle)
            if let lines = unsafe lines { unsafe library.releaseLines(lines) }
        }

        func set(_ option: CurlOption, _ value: Int) -> CurlResult {
            // Sound: the value of this option is a long.
            CurlResult(unsafe blewedge_curl_set_long(library.set, handle, option.rawValue, value))
        }

        /// Sets a string option, which the library copies; nil resets the option.
        func set(_ option: CurlOption, _ text: String?) -> CurlResult {
            // Sound: the value of this option is a null-terminated string or NULL.
            guard let text else {
                return CurlResult(unsafe blewedge_curl_set_pointer(library.set, handle, option.rawValue, nil))
            }
            return CurlResult(
                unsafe text.withCString { unsafe blewedge_curl_set_pointer(library.set, handle, option.rawValue, $0) }
            )
        }

        /// Sets the request body, which the library copies.
        func set(body: [UInt8]) -> CurlResult {
            let result = set(.bodyLength, body.count)
            guard result == .done else { return result }
            // Sound: the library copies exactly the number of bytes that was set as the body's size before.
            return CurlResult(
                unsafe body.withUnsafeBytes { bytes in
                    unsafe blewedge_curl_set_pointer(
                        library.set,
                        handle,
                        CurlOption.copiedBody.rawValue,
                        bytes.baseAddress
                    )
                }
            )
        }

        /// Adds a header line to the request.
        mutating func add(line: String) -> CurlResult {
            // Sound: the library copies the text, and the list lives as long as the request.
            guard let longer = unsafe library.appendLine(lines, line) else { return .noMemory }
            unsafe lines = longer
            return CurlResult(unsafe blewedge_curl_set_pointer(library.set, handle, CurlOption.lines.rawValue, longer))
        }

        /// Performs the request on the calling thread, and passes the response body to the sink (C:
        /// `curl_easy_perform`).
        func perform(into sink: CurlSink) -> CurlResult {
            // Sound: the sink outlives the call, which is made on this thread, and each part is passed with its length.
            let take: blewedge_curl_sink = { bytes, size, count, context in
                guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
                let sink = unsafe Unmanaged<CurlSink>.fromOpaque(context).takeUnretainedValue()
                let part = unsafe UnsafeRawBufferPointer(start: bytes, count: size &* count)
                return unsafe sink.take(part) ? size &* count : 0
            }
            return withExtendedLifetime(sink) {
                let context = unsafe Unmanaged.passUnretained(sink).toOpaque()
                for result in unsafe [
                    CurlResult(blewedge_curl_set_sink(library.set, handle, CurlOption.sink.rawValue, take)),
                    CurlResult(
                        blewedge_curl_set_pointer(library.set, handle, CurlOption.sinkContext.rawValue, context)
                    ),
                ] where result != .done {
                    return result
                }
                return CurlResult(unsafe library.performRequest(handle))
            }
        }

        /// HTTP status of the response; 0 if there is no response (C: `curl_easy_getinfo` with CURLINFO_RESPONSE_CODE).
        var status: Int { number(0x20_0002) }

        /// Length of the sent request in bytes; 0 if nothing was sent (C: `curl_easy_getinfo` with
        /// CURLINFO_REQUEST_SIZE).
        var requestSize: Int { number(0x20_000C) }

        private func number(_ information: Int32) -> Int {
            var number = 0
            // Sound: the library writes one long.
            let result = unsafe blewedge_curl_get_long(library.get, handle, information, &number)
            return result == 0 ? number : 0
        }
    }
}

/// Options of a request, with their numbers in libcurl's stable ABI.
///
/// The numbers of numeric options are below 10,000, those of pointers start at 10,000, and those of functions at
/// 20,000.
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

    /// Name of the option in libcurl, without `CURLOPT_`.
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

/// A result code of libcurl (CURLcode).
struct CurlResult: Equatable, Sendable {
    let rawValue: Int32

    init(_ rawValue: Int32) { self.rawValue = rawValue }

    static let done = CurlResult(0)
    static let noMemory = CurlResult(27)
    /// CURLE_UNKNOWN_OPTION: the library is too old for the option.
    static let unknownOption = CurlResult(48)
    /// CURLE_SSL_CACERT_BADFILE: the CA file cannot be read.
    static let badAuthorityFile = CurlResult(77)
    static let timedOut = CurlResult(28)

    /// True if no connection to the server or the proxy could be made.
    ///
    /// Either its name could not be resolved, or the connection attempt failed. The codes are
    /// CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST and CURLE_COULDNT_CONNECT.
    var isUnreachable: Bool { (5...7).contains(rawValue) }

    /// True if the server's certificate does not match its name, or is not signed by a trusted authority.
    ///
    /// The codes are CURLE_PEER_FAILED_VERIFICATION, which had two numbers before libcurl 7.62, and
    /// CURLE_SSL_ISSUER_ERROR.
    var isRefusedCertificate: Bool { [51, 60, 83].contains(rawValue) }
}

/// The part of the response body received so far, up to a limit.
final class CurlSink {
    private(set) var bytes: [UInt8] = []
    /// True if the body exceeded the limit.
    private(set) var isOverfull = false
    private let limit: Int

    /// Creates a sink for at most `limit` bytes.
    init(limit: Int) { self.limit = limit }

    /// Appends a part of the body.
    ///
    /// If the body would exceed the limit, discards all of it and returns false.
    func take(_ part: UnsafeRawBufferPointer) -> Bool {
        guard part.count <= limit - bytes.count else {
            isOverfull = true
            return false
        }
        // Sound: the part is valid during the call, and is copied.
        unsafe bytes.append(contentsOf: part)
        return true
    }
}
