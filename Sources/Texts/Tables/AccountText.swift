// SPDX-License-Identifier: GPL-2.0-or-later

/// Summary of the byte counts, printed when a keyboard in the foreground ends.
package enum AccountText: String, Localized {
    case bytes, output, causes, cause, dropped, missed, readBack, demo, demoBytes, demoNothing

    package var texts: LocalText {
        switch self {
        case .bytes:
            LocalText(
                "received {1} bytes in {2} notifications: typed {3}, discarded {4}, rejected {5}, gated {6}, lost {7}, waiting {8}",
                "受信 {1}バイト(通知{2}回): 入力 {3}、破棄 {4}、拒否 {5}、停止中に破棄 {6}、損失 {7}、入力待ち {8}"
            )
        case .output:
            LocalText(
                "to {1}: received {2} bytes, typed {3}, discarded {4}, rejected {5}, gated {6}, lost {7}, waiting {8}",
                "出力先 {1}: 受信 {2}バイト、入力 {3}、破棄 {4}、拒否 {5}、停止中に破棄 {6}、損失 {7}、入力待ち {8}"
            )
        case .causes: LocalText(" ({1})", " ({1})")
        case .cause: LocalText("{1} {2}", "{1} {2}")
        case .dropped:
            LocalText("; notifications dropped by the kernel: {1}", "、カーネルによる通知の破棄: {1}")
        case .missed:
            LocalText("; missed by individual clients: {1} bytes", "、個々の接続先の取りこぼし: {1}バイト")
        case .readBack:
            LocalText(
                "events verified: {1} as expected, {2} different; the kernel dropped unread events {3} times",
                "照合したイベント: 一致 {1}、不一致 {2}、カーネルによる未読イベントの破棄 {3}回"
            )
        case .demo: LocalText("barcodes typed correctly: {1} of {2}; {3}", "正しく入力されたバーコード: {2}件中{1}件、{3}")
        case .demoBytes:
            LocalText(
                "received {1} bytes = typed {2} + discarded {3} + rejected {4} + gated {5} + lost {6} + waiting {7}",
                "受信 {1}バイト = 入力 {2} + 破棄 {3} + 拒否 {4} + 停止中に破棄 {5} + 損失 {6} + 入力待ち {7}"
            )
        case .demoNothing: LocalText("nothing was received", "何も受信していません")
        }
    }
}

/// Texts for the stages of the demo, which are shown in a diagram or line by line.
package enum DemoText: String, Localized {
    // Names of the stages.
    case scanner, radio, link, ring, table, keys, screen, notify
    // Labels of the values shown at the stages.
    case barcodes, counted, waiting, typed, events, sent, memory, advertises, state

    package var texts: LocalText {
        switch self {
        case .scanner: LocalText("scanner", "リーダ")
        case .radio: LocalText("radio", "無線")
        case .link: LocalText("link", "接続")
        case .ring: LocalText("ring", "待ち行列")
        case .table: LocalText("table", "変換表")
        case .keys: LocalText("keys", "キー")
        case .screen: LocalText("screen", "画面")
        case .notify: LocalText("notify", "通知")
        case .barcodes: LocalText("barcode {1} of {2}  {3}", "バーコード {1}/{2}  {3}")
        case .counted: LocalText("{1} notifications, {2} bytes", "通知{1}回、{2}バイト")
        case .waiting: LocalText("{1} bytes waiting", "入力待ち {1}バイト")
        case .typed: LocalText("{1} typed, {2} discarded, {3} rejected", "入力 {1}、破棄 {2}、拒否 {3}")
        case .events: LocalText("{1} events in {2} writes", "イベント {1}、書き込み {2}回")
        case .sent: LocalText("{1} ({2} bytes)", "{1} ({2}バイト)")
        case .state: LocalText("{1}: {2}", "{1}: {2}")
        case .memory:
            LocalText("two simulated controllers; no adapter is used", "メモリ上のコントローラ2個で、アダプタは使用しません")
        case .advertises:
            LocalText("{1} advertises the LINBLE UART Service", "{1} がLINBLE UART Serviceをアドバタイズしています")
        }
    }
}

/// Texts for the steps of `demo --tui`, in the order in which they are shown.
package enum DemoScriptText: String, Localized {
    case line, choose, text, chooseScale, weight, badgeLeaves, badgeReturns, linkBreaks, linkReturns, end

    package var texts: LocalText {
        switch self {
        case .line: LocalText("Step {1} of {2}: {3}", "手順{1}/{2}: {3}")
        case .choose:
            LocalText(
                "select LINBLE-Z1 with the arrows and Enter. It is not paired: confirm with Right and Enter.",
                "矢印とEnterで LINBLE-Z1 を選択します。ペアリングされていないため、→とEnterで確認します。"
            )
        case .text:
            LocalText("F2 shows the text from the reader. Wait for a barcode.", "F2で、リーダから入力された文字を確認できます。バーコードを待ちます。")
        case .chooseScale:
            LocalText(
                "F1 lists the devices. Select SCALE-15K, and confirm both questions.",
                "F1でデバイスの一覧に戻り、SCALE-15K を選択します。質問が2回あります。"
            )
        case .weight:
            LocalText("F2 shows the text from the scale. Wait for a weight.", "F2で、秤から入力された文字を確認できます。重量を待ちます。")
        case .badgeLeaves:
            LocalText(
                "the operator leaves with the badge. Wait for the gate to close.",
                "作業者がバッジを持って離れます。ゲートが閉じるのを待ちます。"
            )
        case .badgeReturns:
            LocalText(
                "the gate is closed, so weights are discarded. Wait for the badge to return.",
                "ゲートが閉じているため、重量は破棄されます。バッジが戻るのを待ちます。"
            )
        case .linkBreaks:
            LocalText("the scale moves out of range. Wait for the link to be lost.", "秤が電波の届かない所へ移動します。接続が切れるのを待ちます。")
        case .linkReturns:
            LocalText(
                "the link is lost. When the scale returns, blewedge reconnects.",
                "接続が切れました。秤が戻ると自動で再接続します。"
            )
        case .end:
            LocalText("that is all. Explore the other pages; press q to quit.", "以上です。ほかの画面もご覧ください。qで終了します。")
        }
    }
}

/// Messages about the keys and actions, beyond text, Tab, Enter and Backspace, that a configuration allows.
package enum AllowanceText: String, Localized {
    case typed, clients, declared, beacons

    package var texts: LocalText {
        switch self {
        case .typed:
            LocalText(
                "received bytes can press {1}; Escape and Ctrl are blocked for unpaired devices",
                "受信データが {1} を押します(認証のないデバイスのEscapeとCtrlは破棄されます)"
            )
        case .clients:
            LocalText("`key` and `snippet` can press {1}", "`key` と `snippet` が {1} を押します")
        case .beacons:
            LocalText("beacons, which anyone can copy, trigger {1}", "誰でも複製できるビーコンが {1} により動作します")
        case .declared:
            LocalText("{1} are declared for udev but never pressed", "{1} はudevのために宣言されていますが、押されることはありません")
        }
    }
}
