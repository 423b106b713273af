// SPDX-License-Identifier: GPL-2.0-or-later

/// Reports of a report map, and what a decoder makes of an input report.
package enum HIDText: String, Localized {
    // Reports of the map.
    case input, inputKeys, output, feature
    // An input report with the keys held after it, and its outcome.
    case held, noneHeld, typed, shorter, longer

    package var texts: LocalText {
        switch self {
        case .input: LocalText("input report {1}: {2} bytes, without keys", "入力レポート {1}: {2}バイト、キーなし")
        case .inputKeys: LocalText("input report {1}: {2} bytes, with keys", "入力レポート {1}: {2}バイト、キーあり")
        case .output: LocalText("output report {1}: {2} bytes", "出力レポート {1}: {2}バイト")
        case .feature: LocalText("feature report {1}: {2} bytes", "フィーチャレポート {1}: {2}バイト")
        case .held: LocalText("{1}: held {2}; {3}", "{1}: 押下中 {2}、{3}")
        case .noneHeld: LocalText("{1}: no key held; {2}", "{1}: 押下中のキーなし、{2}")
        case .typed: LocalText("text {1}", "文字 {1}")
        case .shorter: LocalText("{1} (shorter than declared)", "{1}(宣言より短い)")
        case .longer: LocalText("{1} (longer than declared)", "{1}(宣言より長い)")
        }
    }
}

/// Outcomes of an input report that makes no text.
package enum HIDOutcomeText: String, Localized {
    case unchanged, modifier, release, ambiguous, unknownUsage, shortcut, pending, incompleteAltCode, typed, rollOver
    case noKeys, unknownReport

    package var texts: LocalText {
        switch self {
        case .unchanged: LocalText("no change", "変化なし")
        case .modifier: LocalText("modifier only", "修飾キーのみ")
        case .release: LocalText("key released", "キーの解放")
        case .ambiguous: LocalText("only Shift or AltGr changed", "ShiftまたはAltGrのみ変化")
        case .unknownUsage: LocalText("key without a character", "文字のないキー")
        case .shortcut: LocalText("shortcut without a character", "文字のないキーの組み合わせ")
        case .pending: LocalText("waiting for the next key", "次のキー待ち")
        case .incompleteAltCode: LocalText("Alt code without a character", "文字のないAltコード")
        case .typed: LocalText("character typed", "文字の入力")
        case .rollOver: LocalText("roll-over: too many keys held", "ロールオーバー: 同時押しのキーが多すぎます")
        case .noKeys: LocalText("report without keys", "キーのないレポート")
        case .unknownReport: LocalText("report not in the map", "マップにないレポート")
        }
    }
}

/// Kinds of HID devices that are no keyboards.
package enum HIDKindText: String, Localized {
    case mouse, joystick, gamepad, consumerControl, digitizer, other

    package var texts: LocalText {
        switch self {
        case .mouse: LocalText("mouse", "マウス")
        case .joystick: LocalText("joystick", "ジョイスティック")
        case .gamepad: LocalText("gamepad", "ゲームパッド")
        case .consumerControl: LocalText("remote control", "リモコン")
        case .digitizer: LocalText("touch or pen device", "タッチまたはペンの機器")
        case .other: LocalText("other device", "その他の機器")
        }
    }
}

/// Failures of `blewedge hid`.
package enum HIDFaultText: String, FaultText {
    case refused, notHexadecimal, reportNotHexadecimal, reportWithoutID, noLayout

    package var said: (cause: LocalText, remedy: LocalText?) {
        switch self {
        case .refused:
            cause(
                "report map refused at byte {1}: {2}",
                "レポートマップの{1}バイト目が不正です: {2}",
                fix: "check that the map is complete and unchanged",
                "マップが欠けたり変わったりしていないか確認してください"
            )
        case .notHexadecimal:
            cause(
                "{1} is neither a file nor pairs of hexadecimal digits",
                "{1} はファイルでも2桁ずつの16進数でもありません",
                fix: "`blewedge hid try --help` shows examples",
                "例は `blewedge hid try --help` で確認できます"
            )
        case .reportNotHexadecimal:
            cause(
                "report {1} is not made of pairs of hexadecimal digits",
                "レポート {1} は2桁ずつの16進数ではありません",
                fix: "write each byte as two digits, such as 0000040000000000",
                "0000040000000000のように、1バイトを2桁で書いてください"
            )
        case .reportWithoutID:
            cause(
                "an empty report has no id byte, but this map has report ids",
                "このマップにはレポートIDがありますが、空のレポートにはIDのバイトがありません",
                fix: "begin each report with its id",
                "各レポートをIDから始めてください"
            )
        case .noLayout:
            cause(
                "unknown device layout {1}",
                "デバイスの配列 {1} はありません",
                fix: "use one of {2}",
                "次のいずれかを指定してください: {2}"
            )
        }
    }
}

/// Reasons for which a report map is refused.
package enum ReportMapText: String, Localized {
    case empty, tooLong, truncatedItem, longItem, unknownGlobalItem, pushOverflow, popWithoutPush, reportSize
    case reportCount, reportID, endWithoutCollection, nestedDelimiter, closeWithoutDelimiter, tooManyUsages
    case logicalRange, reportTooLong, openCollection, openDelimiter

    package var texts: LocalText {
        switch self {
        case .empty: LocalText("the map is empty", "マップが空です")
        case .tooLong: LocalText("the map has more than {1} bytes", "マップが{1}バイトを超えています")
        case .truncatedItem: LocalText("the last item is incomplete", "最後の項目が途中で切れています")
        case .longItem: LocalText("long items are not supported", "ロングアイテムには対応していません")
        case .unknownGlobalItem: LocalText("unknown global item {1}", "不明なグローバルアイテム {1}")
        case .pushOverflow: LocalText("more than {1} levels of Push", "Pushが{1}段を超えています")
        case .popWithoutPush: LocalText("Pop without Push", "PushのないPopです")
        case .reportSize: LocalText("Report Size {1} exceeds {2} bits", "Report Size {1} が{2}ビットを超えています")
        case .reportCount: LocalText("Report Count {1} exceeds {2}", "Report Count {1} が{2}を超えています")
        case .reportID: LocalText("Report ID {1} is not from 1 to 255", "Report ID {1} が1から255までの数ではありません")
        case .endWithoutCollection: LocalText("End Collection without Collection", "CollectionのないEnd Collectionです")
        case .nestedDelimiter: LocalText("nested delimiters", "Delimiterが入れ子になっています")
        case .closeWithoutDelimiter: LocalText("closing delimiter without an opening one", "開いていないDelimiterを閉じています")
        case .tooManyUsages: LocalText("a field has more than {1} usages", "1つのフィールドのUsageが{1}個を超えています")
        case .logicalRange:
            LocalText(
                "Logical Maximum {2} is below Logical Minimum {1}",
                "Logical Maximum {2} がLogical Minimum {1} より小さくなっています"
            )
        case .reportTooLong: LocalText("a report of {1} bits exceeds {2} bits", "{1}ビットのレポートが{2}ビットを超えています")
        case .openCollection: LocalText("a collection has no end", "Collectionが閉じられていません")
        case .openDelimiter: LocalText("a delimiter has no end", "Delimiterが閉じられていません")
        }
    }
}
