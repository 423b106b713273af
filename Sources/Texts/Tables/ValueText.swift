// SPDX-License-Identifier: GPL-2.0-or-later

/// Outcomes of a payload of a scale or sensor.
package enum ValueOutcomeText: String, Localized {
    case typed, repeated, unchanged, unstable, removed, kept, overload, notMeasured, encrypted, unreadable

    package var texts: LocalText {
        switch self {
        case .typed: LocalText("typed", "入力済み")
        case .repeated: LocalText("received before", "受信済み")
        case .unchanged: LocalText("unchanged", "変化なし")
        case .unstable: LocalText("not stable", "不安定")
        case .removed: LocalText("load removed", "荷重なし")
        case .kept: LocalText("waiting for a request", "要求待ち")
        case .overload: LocalText("overload", "過荷重")
        case .notMeasured: LocalText("not measured", "測定なし")
        case .encrypted: LocalText("encrypted", "暗号化された値")
        case .unreadable: LocalText("unreadable", "読み取れない値")
        }
    }
}

/// Parts of a line about a payload of a scale or sensor.
package enum ValueText: String, Localized {
    case stable, unstable, removed, text, notTyped, refused

    package var texts: LocalText {
        switch self {
        case .stable: LocalText("stable", "安定")
        case .unstable: LocalText("not stable", "不安定")
        case .removed: LocalText("load removed", "荷重なし")
        case .text: LocalText("text {1}", "文字 {1}")
        case .notTyped: LocalText("not typed: {1}", "入力しません: {1}")
        case .refused: LocalText("refused: {1}", "拒否: {1}")
        }
    }
}

/// Failures of `blewedge value`, and reasons for which a payload has no usable value.
package enum ValueFaultText: String, FaultText {
    case tooShort, encrypted, unknownVersion, unknownObject, overload, notMeasured, empty, noQuantity
    case notHexadecimal, withoutValues, someRefused

    package var said: (cause: LocalText, remedy: LocalText?) {
        switch self {
        case .tooShort:
            cause("{1} bytes are too few; the format needs at least {2}", "{1}バイトでは足りません。この形式には{2}バイト以上が必要です")
        case .encrypted:
            cause(
                "the advertisement is encrypted",
                "アドバタイズが暗号化されています",
                fix: "turn encryption off in the settings of the sensor",
                "センサーの設定で暗号化を無効にしてください"
            )
        case .unknownVersion: cause("unknown version {1} of the format", "形式のバージョン {1} には対応していません")
        case .unknownObject: cause("unknown object {1} at byte {2}", "{2}バイト目のオブジェクト {1} には対応していません")
        case .overload: cause("the load exceeds the range", "測定範囲を超えています")
        case .notMeasured: cause("the device has not measured a value", "値が測定されていません")
        case .empty: cause("the payload contains no value", "値がありません")
        case .noQuantity:
            cause(
                "the payload does not contain the quantity {1}, but {2}",
                "値に {1} がありません。含まれるのは {2} です",
                fix: "change `quantity` in the profile",
                "プロファイルの`quantity`を変更してください"
            )
        case .notHexadecimal:
            cause(
                "payload {1} is not made of pairs of hexadecimal digits",
                "値 {1} は2桁ずつの16進数ではありません",
                fix: "write each byte as two digits, such as 40065E1F",
                "40065E1Fのように、1バイトを2桁で書いてください"
            )
        case .withoutValues:
            cause(
                "profile {1} is that of a device that sends text, not values",
                "プロファイル {1} のデバイスが送るのは文字で、値ではありません",
                fix: "use {2}, or a profile with a table `value`",
                "{2}、または`value`テーブルのあるプロファイルを使用してください"
            )
        case .someRefused: cause("{1} of {2} payloads have no usable value", "{2}件中{1}件に使用できる値がありません")
        }
    }
}
