// SPDX-License-Identifier: GPL-2.0-or-later

import Texts

// The texts of findings about the virtual keyboard, the readers of its keys, and the configuration.

extension FindingText {
    static let uinputMissing = FindingText(
        what: LocalText("there is no {1}, or no module behind it", "{1} がないか、対応するモジュールがありません"),
        why: LocalText("the keyboard is made there", "キーボードはそこで作成します"),
        remedy: LocalText(
            "load the module; `blewedge setup` has it loaded at every start",
            "モジュールを読み込んでください。`blewedge setup` で起動のたびに読み込まれるようになります"
        )
    )

    static let uinputNotPermitted = FindingText(
        what: LocalText(
            "this process may not open {1}",
            "このプロセスは {1} を開くことを許可されていません"
        ),
        why: LocalText("the keyboard is made there", "キーボードはそこで作成します"),
        remedy: LocalText(
            "run as root, or leave it to the service that `blewedge setup` installs: nobody else makes keyboards",
            "rootで実行するか、`blewedge setup` でインストールするサービスに任せてください。ほかのユーザはキーボードを作成できません"
        )
    )

    static let uinputRefused = FindingText(
        what: LocalText("{1} cannot be opened: {2}", "{1} を開けません: {2}"),
        why: LocalText("the keyboard is made there", "キーボードはそこで作成します"),
        remedy: LocalText(
            "permit it in the service's DeviceAllow= and in the container's or security module's policy",
            "サービスのDeviceAllow=と、コンテナまたはセキュリティモジュールのポリシーで許可してください"
        )
    )

    static let evdevMissing = FindingText(
        what: LocalText(
            "the kernel makes no event nodes for keyboards (no evdev)",
            "カーネルがキーボードのイベントノードを作成しません(evdevがありません)"
        ),
        why: LocalText(
            "text consoles get the keys, but no desktop and no other program can read them",
            "テキストコンソールには入力されますが、デスクトップやほかのプログラムからは読み取れません"
        ),
        remedy: LocalText(
            "load the module; `blewedge setup` has it loaded at every start",
            "モジュールを読み込んでください。`blewedge setup` で起動のたびに読み込まれるようになります"
        )
    )

    static let eventNodeNotReadable = FindingText(
        what: LocalText(
            "the keyboard's own event node {1} cannot be read",
            "キーボードのイベントノード {1} を読み取れません"
        ),
        why: LocalText(
            "`verify` compares what arrives there with what was meant",
            "`verify` は、そこに届いたものを入力するはずのものと照合します"
        ),
        remedy: LocalText(
            "install the rule for it with `blewedge setup`, run as root, or do without `verify`",
            "`blewedge setup` で規則をインストールするか、rootで実行するか、`verify` を使わないでください"
        )
    )

    static let oldInputDriver = FindingText(
        what: LocalText(
            "Xorg reads keyboards with its old driver evdev, or is likely to: {1}",
            "Xorgが古いドライバevdevでキーボードを読み取っているか、その可能性があります: {1}"
        ),
        why: LocalText(
            "with a queue of 256 events the keyboard declares axes, and this driver takes them for a pointer's",
            "イベント256個のキューのためにキーボードは軸を宣言しますが、このドライバはそれをポインタのものとみなします"
        ),
        remedy: LocalText(
            "set `queue = 64` in the configuration or `--queue 64` for `run`, or use Xorg's driver libinput",
            "設定ファイルで `queue = 64` とするか、`--queue 64` を付けて `run` を実行するか、Xorgのドライバlibinputを使ってください"
        )
    )

    static let configurationWrong = FindingText(
        what: LocalText("the configuration {1} is wrong: {2}", "設定ファイル {1} に誤りがあります: {2}"),
        why: LocalText(
            "the daemon does not start with it, and one that runs keeps what it read before",
            "このままではデーモンは起動できません。動作中のデーモンは以前の設定のままです"
        ),
        remedy: LocalText("mend the line, then check it", "その行を直してから、確認してください")
    )

    static let selectionUnreadable = FindingText(
        what: LocalText("the choice in {1} cannot be read: {2}", "{1} の選択を読み取れません: {2}"),
        why: LocalText(
            "after a restart nobody knows which device is meant",
            "再起動後、どのデバイスを使うのか分からなくなります"
        ),
        remedy: LocalText(
            "choose the device again, which writes the file anew",
            "デバイスを選択し直してください。ファイルが書き直されます"
        )
    )

    static let nothingSelected = FindingText(
        what: LocalText("no device is chosen", "デバイスが選択されていません"),
        why: LocalText("nothing is connected to that nobody chose", "選択されていないデバイスとは接続しません"),
        remedy: LocalText(
            "look for the device with `blewedge scan`, then choose it by its name or address",
            "`blewedge scan` でデバイスを探し、名前またはアドレスで選択してください"
        )
    )

    static let legacyBond = FindingText(
        what: LocalText(
            "authenticated keys are demanded, and those of {1} are from legacy pairing",
            "認証済みの鍵が要求されていますが、{1} の鍵はレガシーペアリングによるものです"
        ),
        why: LocalText(
            "a legacy passkey authenticates nobody; nothing of the device is typed",
            "レガシーペアリングの番号では認証にならないため、このデバイスからは入力されません"
        ),
        remedy: LocalText(
            "remove the keys and pair as authenticated; if that is refused, pair and `use` it as encrypted",
            "鍵を削除し、authenticated でペアリングし直してください。拒否される場合は encrypted でペアリングし、`use` し直してください"
        )
    )

    static let consoleIgnoresKeys = FindingText(
        what: LocalText(
            "{1} shows text, and its keyboard is {2}",
            "{1} はテキスト表示ですが、キーボードの状態が{2}です"
        ),
        why: LocalText(
            "programs on it get no text of what is typed; often a graphical program has ended without tidying up",
            "その端末のプログラムには文字が入力されません。多くは、グラフィカルなプログラムが後始末をせずに終了したためです"
        ),
        remedy: LocalText(
            "set its keyboard to Unicode",
            "キーボードをUnicodeモードに設定してください"
        )
    )

    static let consoleLeaksKeys = FindingText(
        what: LocalText(
            "a program draws on {1}, and the console beneath it takes keys, too",
            "{1} ではプログラムが画面を描画していますが、その下のコンソールもキーを受け取っています"
        ),
        why: LocalText(
            "what is typed goes to a shell or login prompt that nobody sees",
            "見えないシェルやログインプロンプトにも入力されます"
        ),
        remedy: LocalText(
            "let the program mute the console (K_OFF), or give it a terminal where nothing else runs",
            "プログラムでコンソールのキー入力を止めるか(K_OFF)、ほかに何も動いていない端末を割り当ててください"
        )
    )

    static let loginPromptInFront = FindingText(
        what: LocalText(
            "{1} (process {2}) asks for a login on {3}, which is in front",
            "前面の {3} で {1} (プロセス{2})がログインを待っています"
        ),
        why: LocalText(
            "what is typed is taken for a name or a password",
            "受信データが名前やパスワードとして入力されます"
        ),
        remedy: LocalText(
            "log in there, bring the program's terminal to the front, or turn the prompt off",
            "そこでログインするか、使いたいプログラムの端末を前面に出すか、プロンプトを無効にしてください"
        )
    )

    static let layoutDiffers = FindingText(
        what: LocalText(
            "layout {1} is not that of {2}: {3}{4}",
            "配列 {1} は {2} の配列と異なります: {3}{4}"
        ),
        why: LocalText(
            "other characters come out than the device sent",
            "デバイスが送信したものと異なる文字が入力されます"
        ),
        remedy: LocalText(
            "type with the console's own map: `layout = \"console\"` in the configuration, `--layout console` for `run`",
            "コンソールのキーマップで入力してください: 設定ファイルでは `layout = \"console\"`、`--layout console` は `run` の場合です"
        )
    )
}
