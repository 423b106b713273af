// SPDX-License-Identifier: GPL-2.0-or-later

/// Messages of the commands that query a beacon server.
package enum BeaconServerText: String, Localized {
    case fetched, noDifference, listed, isNew, isAbandoned, logged, valid, invalid, sentAll, nothingWaits, lastSent
    case noneSent, agreement, agree, agreed, prepared

    package var texts: LocalText {
        switch self {
        case .fetched:
            LocalText("regions: {1}; new: {2}; abandoned: {3}", "領域: {1}件、新規: {2}件、廃棄: {3}件")
        case .noDifference: LocalText("regions: {1}; no changes", "領域: {1}件、変更はありません")
        case .listed: LocalText("{1}  {2}", "{1}  {2}")
        case .isNew: LocalText("new: {1}", "新規: {1}")
        case .isAbandoned: LocalText("abandoned: {1}", "廃棄: {1}")
        case .logged: LocalText("the server accepted the test log", "サーバがテストログを受け付けました")
        case .valid: LocalText("valid", "正当なビーコンです")
        case .invalid: LocalText("the server rejected this beacon as invalid", "サーバがこのビーコンを不当と判定しました")
        case .sentAll:
            LocalText("sent: {1}; failed: {2}; pending: {3}", "送信: {1}件、送信断念: {2}件、送信待ち: {3}件")
        case .nothingWaits: LocalText("no pending records", "送信待ちの記録はありません")
        case .lastSent: LocalText("last record sent: {1}", "最後に送信した記録: {1}")
        case .noneSent: LocalText("no record was sent", "送信した記録はありません")
        case .agreement:
            LocalText(
                """
                If you agree, {1} receives the following over HTTPS: tracks (nearby beacons with their times and signal \
                strengths), test logs, queries about one-time beacons, and the auid if one is set. Typed text is never \
                sent. `blewedge beacons show-record` prints each track; `blewedge beacons clear` withdraws your consent.
                """,
                """
                同意すると、{1} へHTTPSで次の情報を送信します: 記録(近くにあったビーコンと、その時刻および受信強度)、テストログ、\
                可変値ビーコンの照会、設定されていればauid。入力した文字は送信しません。記録の内容は `blewedge beacons show-record` \
                で確認できます。同意は `blewedge beacons clear` で取り消せます。
                """
            )
        case .agree: LocalText("Do you agree? [y/N] ", "同意しますか? [y/N] ")
        case .prepared:
            LocalText("the official regions were already fetched since boot", "公式の領域は起動後に取得済みです")
        case .agreed: LocalText("on {1} you agreed to use {2}", "{1} に {2} の使用に同意済みです")
        }
    }
}

/// The result of a contact check, which the server reports for a track (SW-19).
///
/// The raw values are the words in the server's response.
package enum ContactResult: String, Localized {
    case nothingToDo = "nothing-to-do"
    case marked
    case allBlocked = "all-blocked"
    case partBlocked = "part-blocked"
    case unmarkable
    case targetNotFound = "target-not-found"
    case skipped

    package var texts: LocalText {
        switch self {
        case .nothingToDo: LocalText("{1}: nothing to do", "{1}: 処理すべきことはありません")
        case .marked: LocalText("{1}: marked for the campaign", "{1}: キャンペーンのマーキングを実施しました")
        case .allBlocked:
            LocalText("{1}: all campaign notifications are blocked", "{1}: すべてのキャンペーン通知がブロックされました")
        case .partBlocked:
            LocalText("{1}: some campaign notifications are blocked", "{1}: 一部のキャンペーン通知がブロックされました")
        case .unmarkable:
            LocalText("{1}: the campaign cannot be marked as notified", "{1}: キャンペーンをマーキングできない状態でした")
        case .targetNotFound:
            LocalText("{1}: no matching service or campaign was found", "{1}: 対象とするサービスもキャンペーンも見つかりませんでした")
        case .skipped:
            LocalText("{1}: skipped, all campaign requirements are already met", "{1}: すべての要件を満たしているため、処理をスキップしました")
        }
    }
}

/// Words for managed regions (SW-20); the English words are also those in commands and in the server's responses.
package enum ManagedText: String, Localized {
    case service, test, owned
    case thirdParty = "third-party"
    case `static`, dynamic, new, abandoned, unchanged
    case columnType, columnBeacons, columnUpdate

    package var texts: LocalText {
        switch self {
        case .service: LocalText("service", "サービス(service)")
        case .test: LocalText("test", "テスト(test)")
        case .owned: LocalText("owned", "自社(owned)")
        case .thirdParty: LocalText("third-party", "第三者(third-party)")
        case .static: LocalText("static", "固定値(static)")
        case .dynamic: LocalText("dynamic", "可変値(dynamic)")
        case .new: LocalText("new", "新規(new)")
        case .abandoned: LocalText("abandoned", "廃棄(abandoned)")
        case .unchanged: LocalText("unchanged", "変更なし(unchanged)")
        case .columnType: LocalText("TYPE", "区分")
        case .columnBeacons: LocalText("BEACONS", "ビーコン")
        case .columnUpdate: LocalText("UPDATE", "更新")
        }
    }
}

/// Reasons why a request to a beacon server was not sent, or why it failed.
package enum BeaconServerFaultText: String, FaultText {
    // Faults in the configuration.
    case notConfigured, tokenWanted, addressNotHTTPS, addressHost, addressPort, addressUser, addressSign
    case regionMalformed, uuidMalformed, scopeWithoutVariety, notInTestMode, notAgreed
    // Faults of the access token.
    case tokenUnreadable, tokenForbidden, tokenForeign, tokenOpen, tokenGarbled
    // Faults of the request.
    case noLibrary, noLoader, unfit, unreachable, timedOut, certificate, authorityFile, tooLong, broken
    // Faults reported in the server's response.
    case http, httpDenied, httpLater, httpRedirect, answer
    case noRegions, tooSoon, invalidApplication, invalidRegion, invalidBeacon, serverFailed, serverUnreachable
    // Faults of the files that store regions, tracks and the agreement.
    case unreadable, forbidden, garbled, notPermitted, notKept, inUse
    // Failure to send some of the tracks.
    case givenUp

    package var said: (cause: LocalText, remedy: LocalText?) {
        switch self {
        case .tokenWanted:
            cause(
                "there is no access token for the server",
                "サーバのアクセストークンがありません",
                fix: "specify its file with --token-file, or set beacons.app-code-file",
                "--token-file または設定の beacons.app-code-file でファイルを指定してください"
            )
        case .addressNotHTTPS: cause("{1} is not an HTTPS address", "{1} はHTTPSのアドレスではありません", fix: Self.form)
        case .addressHost: cause("{1} contains no host name", "{1} にホスト名がありません", fix: Self.form)
        case .addressPort:
            cause("the port in {1} is not between 1 and 65535", "{1} のポートは1から65535までではありません", fix: Self.form)
        case .addressUser:
            cause(
                "the address contains a user name",
                "アドレスにユーザ名が含まれています",
                fix: "put the access token only in its file",
                "アクセストークンはファイルだけに書いてください"
            )
        case .addressSign:
            cause("{1} contains a character that is not allowed in addresses", "{1} にアドレスで使えない文字があります", fix: Self.form)
        case .regionMalformed:
            cause(
                "{1} is not a region",
                "{1} は領域ではありません",
                fix: "a region is UUID, UUID/MAJOR, UUID/MAJOR/MINOR, or eddystone:NAMESPACE[/INSTANCE]",
                "領域はUUID、UUID/MAJOR、UUID/MAJOR/MINOR、またはeddystone:NAMESPACE[/INSTANCE]で指定してください"
            )
        case .uuidMalformed:
            cause(
                "{1} is not a UUID",
                "{1} はUUIDではありません",
                fix: "use 36 characters: groups of 8, 4, 4, 4 and 12 hexadecimal digits",
                "36文字(8桁、4桁、4桁、4桁、12桁の16進数)で指定してください"
            )
        case .scopeWithoutVariety:
            cause("--beacons is only for service and owned regions", "--beaconsはserviceとownedの領域専用です")
        case .notInTestMode:
            cause(
                "the test log can be written only in test mode",
                "テストログはテストモードでのみ記録できます",
                fix: "use --test-mode, or set test-mode = true in [beacons]",
                "--test-mode、または [beacons] の test-mode = true を指定してください"
            )
        case .notAgreed:
            cause(
                "you have not agreed to use {1}",
                "{1} の使用に同意していません",
                fix:
                    "`blewedge beacons set-up --server {1}` shows what is sent and asks for consent (`--agree` skips the question)",
                "`blewedge beacons set-up --server {1}` で送信内容を確認し、同意してください(質問を省くには `--agree`)"
            )
        case .tokenUnreadable: cause("cannot read the access token in {1}: {2}", "{1} のアクセストークンを読み取れません: {2}")
        case .tokenForbidden:
            cause(
                "not permitted to read the access token in {1}",
                "{1} のアクセストークンの読み取りが許可されていません",
                fix: "run as the owner of {1}",
                "{1} の所有者として実行してください"
            )
        case .tokenForeign:
            cause(
                "the access token in {1} belongs to user {2}",
                "{1} のアクセストークンはユーザ{2}のものです",
                fix: "run as the owner of {1}",
                "{1} の所有者として実行してください"
            )
        case .tokenOpen:
            cause(
                "other users can read or write the access token in {1} (mode {2})",
                "{1} のアクセストークンを、ほかのユーザが読み書きできます(モード {2})",
                fix: "`chmod 600 {1}`",
                "`chmod 600 {1}` を実行してください"
            )
        case .tokenGarbled:
            cause(
                "{1} is not an access token",
                "{1} はアクセストークンではありません",
                fix: "a token is one line of 1 to 4096 printable ASCII characters",
                "トークンは表示可能なASCII文字1から4096字の1行です"
            )
        case .notConfigured:
            cause(
                "no beacon server is configured",
                "ビーコンのサーバが設定されていません",
                fix: "specify its address with --server, or set beacons.server in {1}",
                "--server または {1} の beacons.server でアドレスを指定してください"
            )
        case .unfit:
            cause(
                "libcurl rejected {1}: {2}",
                "libcurlが {1} を拒否しました: {2}",
                fix: "use a libcurl with HTTPS support (Debian: `apt install libcurl4`)",
                "HTTPSに対応したlibcurlを使用してください(Debian: `apt install libcurl4`)"
            )
        case .unreachable:
            cause(
                "the server cannot be reached: {1}",
                "サーバに接続できません: {1}",
                fix: "check the network and the address",
                "ネットワークとアドレスを確認してください"
            )
        case .timedOut: cause("the server did not respond in time", "サーバが時間内に応答しませんでした", fix: Self.later)
        case .certificate:
            cause(
                "the server's certificate was rejected: {1}",
                "サーバの証明書を拒否しました: {1}",
                fix: "check the address; for a private certificate authority, use --ca-file",
                "アドレスを確認してください。独自の認証局の証明書は--ca-fileで指定します"
            )
        case .authorityFile:
            cause(
                "{1} is not a certificate file",
                "{1} は証明書のファイルではありません",
                fix: "specify a PEM file with --ca-file",
                "--ca-fileでPEM形式のファイルを指定してください"
            )
        case .tooLong: cause("the response is longer than {1} bytes", "応答が{1}バイトを超えています", fix: Self.otherServer)
        case .broken: cause("cannot communicate with the server: {1}", "サーバと通信できません: {1}", fix: Self.later)
        case .noLoader:
            cause(
                "the fully static binary cannot load libcurl",
                "完全に静的な実行ファイルはlibcurlを読み込めません",
                fix: "use the dynamically linked binary to access the server",
                "Cライブラリにリンクされた実行ファイルでサーバに接続してください"
            )
        case .noLibrary:
            cause(
                "cannot load libcurl: {1}",
                "libcurlを読み込めません: {1}",
                fix: "install it (Debian: `apt install {2}`)",
                "インストールしてください(Debian: `apt install {2}`)"
            )
        case .httpDenied:
            cause(
                "the server denied the request with status {1}",
                "サーバがステータス{1}で拒否しました",
                fix: "check the access token",
                "アクセストークンを確認してください"
            )
        case .httpLater: cause("the server failed with status {1}", "サーバがステータス{1}で失敗しました", fix: Self.later)
        case .httpRedirect:
            cause(
                "the server sent a redirect with status {1}, which is not followed",
                "サーバがステータス{1}で転送しようとしましたが、従いません",
                fix: Self.otherServer
            )
        case .answer: cause("cannot parse the server's response: {1}", "サーバの応答を解釈できません: {1}", fix: Self.otherServer)
        case .noRegions: cause("the server has no regions for this application (1400)", "このアプリに提供できる領域がサーバにありません(1400)")
        case .tooSoon:
            cause("regions were fetched recently; try again after {1} (1500)", "領域は最近取得済みです。{1}以降に再取得できます(1500)")
        case .invalidApplication:
            cause("this application is not registered for one-time beacons (2001)", "このアプリは可変値ビーコン用に登録されていません(2001)")
        case .invalidRegion:
            cause("this beacon is not in a region of one-time beacons (2002)", "このビーコンは可変値ビーコンの領域のものではありません(2002)")
        case .invalidBeacon:
            cause("this beacon is not a valid one-time beacon (2003)", "このビーコンは有効な可変値ビーコンではありません(2003)")
        case .serverFailed:
            cause(
                "an internal server error occurred during the check (2004)",
                "確認中にサーバ内でエラーが発生しました(2004)",
                fix: Self.later
            )
        case .serverUnreachable:
            cause(
                "the server cannot be reached (2005)",
                "サーバに接続できません(2005)",
                fix: "check the network and the address",
                "ネットワークとアドレスを確認してください"
            )
        case .http: cause("the server responded with status {1}", "サーバがステータス{1}で応答しました", fix: Self.otherServer)
        case .forbidden:
            cause(
                "not permitted to read {1}",
                "{1} の読み取りが許可されていません",
                fix: "run as root, or as the owner of {1}",
                "rootまたは {1} の所有者として実行してください"
            )
        case .garbled: cause("cannot parse {1}: {2}", "{1} を解釈できません: {2}", fix: "`rm {1}`", "`rm {1}` で削除してください")
        case .notPermitted:
            cause(
                "not permitted to write {1}",
                "{1} への書き込みが許可されていません",
                fix: "run as root, or as the owner of {2}",
                "rootまたは {2} の所有者として実行してください"
            )
        case .notKept: cause("cannot write {1}, its previous content is kept: {2}", "{1} に書き込めません。以前の内容のままです: {2}")
        case .inUse: cause("another process is sending the records in {1}", "別のプロセスが {1} の記録を送信中です", fix: Self.later)
        case .givenUp: cause("records that could not be sent: {1}; {2}", "送信断念: {1}件。{2}")
        case .unreadable: cause("cannot read {1}: {2}", "{1} を読み取れません: {2}")
        }
    }

    private static let form = LocalText(
        "use the form https://HOST[:PORT][/PATH]",
        "アドレスは https://HOST[:PORT][/PATH] の形式で指定してください"
    )
    private static let later = LocalText("try again later", "後でもう一度お試しください")
    private static let otherServer = LocalText(
        "check the address, or contact the server's operator",
        "アドレスを確認するか、サーバの管理者に連絡してください"
    )
}
