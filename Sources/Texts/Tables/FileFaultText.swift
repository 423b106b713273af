// SPDX-License-Identifier: GPL-2.0-or-later

/// Faults in files, and faults of objects that the files name.
package enum FileFaultText: String, FaultText {
    // Faults of the file that stores the selected device.
    case choiceUnreadable, choiceForbidden, choiceGarbled, choiceNotPermitted, choiceNotKept, choiceNotFollowed
    case noPlace, stateWritable, stateOfOthers, fileWritable, fileOfOthers
    case locked, lockedBy
    // Faults of the file that stores the known devices.
    case knownUnreadable, knownNotKept, knownNotPermitted
    // Faults of the file that stores the services of keyboards.
    case keyboardsUnreadable, keyboardsNotKept
    // Faults in the configuration and its profiles.
    case configurationUnreadable, noText, configurationFaults, noProfile, profileUnreadable, profileFaults
    case noProfiles, stall, byteTooLong, scanMode, scanAffix, faulty, inLine, noEffect, notKept
    // Faults in layouts and tables.
    case layout, layoutWithoutLibrary, layoutInStaticForm, layoutMalformed, layoutUnknown, consoleUnreadable
    case tableUnreadable
    // Faults in snippets.
    case snippetsUnreadable, snippetWithoutScans, snippetNotTypable, snippetsFaulty
    // Faults of outputs other than the keyboard.
    case endNotMade, endTaken

    package var said: (cause: LocalText, remedy: LocalText?) {
        switch self {
        case .choiceUnreadable:
            cause("cannot read the selected device from {1}: {2}", "{1} からデバイスの選択を読み取れません: {2}", fix: Self.chooseAgain)
        case .choiceForbidden:
            cause(
                "cannot read the selected device from {1}: {2}",
                "{1} からデバイスの選択を読み取れません: {2}",
                fix: "`chmod 644 {1}`",
                "`chmod 644 {1}` を実行してください"
            )
        case .choiceGarbled:
            cause(
                "cannot determine the selected device from {1}: line {2} {3}",
                "{1} から選択中のデバイスが分かりません: line {2} {3}",
                fix: Self.chooseAgain
            )
        case .choiceNotPermitted:
            cause(
                "not permitted to write {1}",
                "{1} への書き込みが許可されていません",
                fix: "run as root, or as the owner of {2}",
                "rootまたは {2} の所有者として実行してください"
            )
        case .choiceNotKept:
            cause(
                "cannot save the selected device in {1}, the previous one is kept: {2}",
                "デバイスの選択を {1} に保存できません。以前の選択のままです: {2}"
            )
        case .choiceNotFollowed: cause("cannot watch the selected device in {1}: {2}", "{1} でデバイスの選択の変更を監視できません: {2}")
        case .knownUnreadable: cause("cannot read the known devices in {1}: {2}", "{1} から既知のデバイスを読み取れません: {2}")
        case .knownNotKept:
            cause(
                "cannot record the connected device in {1}: {2}",
                "接続したデバイスを {1} に記録できません: {2}"
            )
        case .knownNotPermitted:
            cause(
                "not permitted to access the known devices in {1}",
                "既知のデバイスの記録 {1} へのアクセスが許可されていません",
                fix: "run as root, or as the owner of {2}",
                "rootまたは {2} の所有者として実行してください"
            )
        case .keyboardsUnreadable:
            cause("cannot read the services of keyboards in {1}: {2}", "{1} からキーボードのサービスを読み取れません: {2}")
        case .keyboardsNotKept:
            cause("cannot save the services of keyboards in {1}: {2}", "キーボードのサービスを {1} に保存できません: {2}")
        case .noPlace:
            cause(
                "no location for the selected device and the control socket: HOME is not set",
                "選択と制御ソケットの置き場所がありません: HOMEが設定されていません",
                fix: "set HOME, or XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_RUNTIME_DIR",
                "HOME、またはXDG_CONFIG_HOME、XDG_STATE_HOME、XDG_RUNTIME_DIRを設定してください"
            )
        case .stateWritable:
            cause(
                "other users can write to {1}, which contains the selected device (mode {2})",
                "デバイスの選択を置く {1} に、ほかのユーザが書き込めます(モード {2})",
                fix: "`chmod go-w {1}`",
                "`chmod go-w {1}` を実行してください"
            )
        case .fileWritable:
            cause(
                "other users can write to {1} (mode {2}) and so control {3}",
                "ほかのユーザが {1} に書き込める(モード {2})ため、{3} の動作を変えられます",
                fix: "`chmod go-w {1}`",
                "`chmod go-w {1}` を実行してください"
            )
        case .fileOfOthers:
            cause(
                "{1} belongs to user {2}, who can therefore control {3}",
                "{1} の所有者がほかのユーザ {2} のため、{3} の動作を変えられます",
                fix: "change its owner to root, or to the user who runs blewedge",
                "rootか、実行するユーザのものにしてください"
            )
        case .locked:
            cause(
                "another process has locked {1}",
                "別のプロセスが {1} をロックしています",
                fix: "find it with `fuser {1}`; try again when it has ended",
                "`fuser {1}` で確認し、終了してから再度お試しください"
            )
        case .lockedBy:
            cause(
                "process {2} has locked {1}",
                "プロセス {2} が {1} をロックしています",
                fix: "try again when process {2} has ended",
                "プロセス {2} が終了してから再度お試しください"
            )
        case .stateOfOthers:
            cause(
                "{1}, which contains the selected device, belongs to user {2}",
                "デバイスの選択を置く {1} の所有者が、ほかのユーザ {2} です",
                fix: "change its owner to the user who runs blewedge, or set XDG_STATE_HOME",
                "実行するユーザのものにするか、XDG_STATE_HOMEで別の場所を指定してください"
            )
        case .configurationUnreadable: cause("cannot read the configuration {1}: {2}", "設定ファイル {1} を読み取れません: {2}")
        case .noText: cause("{1}: the file is not UTF-8 text", "{1}: UTF-8のテキストではありません")
        case .configurationFaults:
            cause(
                "{1}",
                "{1}",
                fix: "`blewedge config show --commented` shows every key with its default",
                "すべての項目と既定値は `blewedge config show --commented` で確認できます"
            )
        case .noProfile:
            cause(
                "there is no profile {1}",
                "{1} というプロファイルはありません",
                fix: "specify one of {2}, or {3}, or the path of a file",
                "{2}、{3}、またはファイルのパスを指定してください"
            )
        case .profileUnreadable: cause("cannot read the profile {1}: {2}", "プロファイル {1} を読み取れません: {2}")
        case .profileFaults: cause("{1}", "{1}")
        case .noProfiles: cause("there are no profiles", "プロファイルがありません")
        case .stall: cause("stall with pace {1}: {2}", "入力間隔 {1} でのstall: {2}")
        case .byteTooLong:
            cause(
                "{1} with layout {2} maps a byte to {3} events: {4}",
                "変換表 {1} と配列 {2} では{3}イベントになるバイトがあります: {4}",
                fix: "type less per byte, or set a shorter stall",
                "1バイト当たりの入力を減らすか、stallを短くしてください"
            )
        case .scanMode: cause("scan mode: {1}", "スキャンモード: {1}")
        case .scanAffix: cause("scan mode's {1}: {2}", "スキャンモードの{1}: {2}")
        case .faulty: cause("{1}: {2}", "{1}: {2}")
        case .inLine: cause("{1}: line {2}: {3}", "{1}の{2}行目: {3}")
        case .noEffect:
            cause(
                "{1} has no effect without {2}",
                "{2} がないため {1} は効きません",
                fix: "set {2}, or remove {1}",
                "{2} を設定するか、{1} を削除してください"
            )
        case .notKept: cause("{1}: {2}", "{1}: {2}")
        case .layout: cause("layout {1}: {2}", "配列 {1}: {2}")
        case .layoutWithoutLibrary:
            cause(
                "layout {1}: {2}",
                "配列 {1}: {2}",
                fix:
                    "install libxkbcommon and its data (Debian: `apt install libxkbcommon0 xkb-data`), or use a built-in layout",
                "libxkbcommonとそのデータをインストールするか(Debian: `apt install libxkbcommon0 xkb-data`)、組み込みの配列を指定してください"
            )
        case .layoutInStaticForm:
            cause(
                "layout {1}: the fully static binary cannot load libxkbcommon",
                "配列 {1}: 完全に静的な実行ファイルはlibxkbcommonを読み込めません",
                fix: "use a built-in layout or `console`, or the dynamically linked binary",
                "組み込みの配列か`console`を指定するか、Cライブラリにリンクされた実行ファイルを使用してください"
            )
        case .layoutMalformed:
            cause("layout {1}: {2}", "配列 {1}: {2}", fix: "use one of these layouts: {3}", "次のいずれかの配列を指定してください: {3}")
        case .layoutUnknown:
            cause(
                "layout {1}: {2}",
                "配列 {1}: {2}",
                fix: "use a layout listed in /usr/share/X11/xkb/rules/evdev.lst, or one of {3}",
                "/usr/share/X11/xkb/rules/evdev.lstにある配列、または次のいずれかを指定してください: {3}"
            )
        case .consoleUnreadable:
            cause("layout {1}: cannot read the keyboard map of {2}: {3}", "配列 {1}: {2} のキーマップを読み取れません: {3}")
        case .tableUnreadable:
            cause(
                "cannot read the table {1}: {2}",
                "変換表 {1} を読み取れません: {2}",
                fix: "specify a file, or one of {3}",
                "ファイル、または次のいずれかを指定してください: {3}"
            )
        case .snippetsUnreadable: cause("cannot read the snippets in {1}: {2}", "{1} から定型文を読み取れません: {2}")
        case .snippetWithoutScans:
            cause(
                "snippet {1} is triggered by a barcode, but scan mode is off",
                "定型文 {1} はスキャンに対して入力されますが、スキャン単位の処理が無効です: バイトは届いたまま入力されます",
                fix: "set `scan-mode.on` in the configuration, use `--scan`, or remove its \"received\"",
                "設定の `scan-mode.on` か `--scan` を指定するか、\"received\" を外してください"
            )
        case .snippetNotTypable:
            cause(
                "snippet {1} cannot be typed: {2}",
                "定型文 {1} は入力できません: {2}",
                fix: "use another layout, or remove the snippet",
                "別の配列を選ぶか、その定型文を外してください"
            )
        case .snippetsFaulty: cause("snippets: {1}", "定型文: {1}")
        case .endNotMade: cause("cannot open output {1}: {2}", "接続先 {1} を作成できません: {2}")
        case .endTaken:
            cause(
                "cannot open output {1}: process {2} is already using it",
                "接続先 {1} を作成できません: プロセス{2}がすでに使用しています",
                fix: "stop that process (a daemon: `blewedge stop`), or use another path",
                "そのプロセスを終了するか(デーモンの場合は `blewedge stop`)、別のパスを指定してください"
            )
        }
    }

    private static let chooseAgain = LocalText(
        "select it again: `blewedge use DEVICE`",
        "選択し直してください: `blewedge use DEVICE`"
    )
}
