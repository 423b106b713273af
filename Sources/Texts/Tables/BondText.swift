// SPDX-License-Identifier: GPL-2.0-or-later

/// Messages of the commands for pairing.
package enum BondText: String, Localized {
    case listening, pairing, compare, enter, notSixDigits, show, paired, pairedOpenly, pairedLegacy, noBonds, forgotten
    case onlyInKernel, legacy
    case brokenLines, tightened, columnDevice, columnAdapter, columnSecurity, authenticated, encrypted, pairsFor
    case pairable, pairableOver, notPaired

    package var texts: LocalText {
        switch self {
        case .listening:
            LocalText("searching for {1}: put it in pairing mode", "{1} を探しています。ペアリングできる状態にしてください")
        case .pairing: LocalText("pairing with {1}", "{1} とペアリングしています")
        case .compare:
            LocalText("Does the other device show {1}? [y/N] ", "相手のデバイスに {1} と表示されていますか? [y/N] ")
        case .enter:
            LocalText("Enter the six digits shown on the other device: ", "相手のデバイスに表示された6桁の数字: ")
        case .notSixDigits: LocalText("this is not a six-digit number", "6桁の数字ではありません")
        case .show: LocalText("enter {1} on the other device", "相手のデバイスで {1} を入力してください")
        case .paired:
            LocalText("paired with {1}: encrypted and authenticated", "{1} とペアリングしました: 暗号化され、番号で認証されています")
        case .pairedOpenly:
            LocalText(
                "paired with {1}: encrypted, but not authenticated; an attacker who intercepted this pairing can read all data",
                "{1} とペアリングしました: 暗号化されますが、認証されていません。この時に割り込んだ者がいれば傍受できます"
            )
        case .pairedLegacy:
            LocalText(
                "paired with {1}: encrypted, but by legacy pairing without authentication; anyone who recorded the pairing has the keys",
                "{1} とペアリングしました: 暗号化されますが、レガシーペアリングのため認証されていません。この時に傍受した者は鍵を得られます"
            )
        case .noBonds: LocalText("no paired devices", "ペアリング済みのデバイスはありません")
        case .forgotten: LocalText("removed the keys of {1}", "{1} の鍵を削除しました")
        case .onlyInKernel:
            LocalText("removed the keys of {1} from the kernel", "カーネルにあった {1} の鍵を削除しました")
        case .brokenLines:
            LocalText("{1}: skipped {2} damaged records (lines {3})", "{1}: 壊れた記録{2}件を飛ばしました({3}行目)")
        case .tightened:
            LocalText(
                "{1} was readable by other users; now only its owner can read it",
                "{1} は他のユーザから読めたため、所有者だけが読めるようにしました"
            )
        case .columnDevice: LocalText("DEVICE", "デバイス")
        case .columnAdapter: LocalText("ADAPTER", "アダプタ")
        case .columnSecurity: LocalText("SECURITY", "セキュリティ")
        case .authenticated: LocalText("authenticated", "認証済み")
        case .encrypted: LocalText("encrypted, not authenticated", "暗号化のみ(認証なし)")
        case .legacy: LocalText("encrypted, legacy: not authenticated", "暗号化のみ(レガシー、認証なし)")
        case .pairsFor:
            LocalText("for at most {1} s; press Ctrl-C to quit", "最長{1}秒。Ctrl-Cで終了します")
        case .pairable:
            LocalText("accepting pairing requests for {1} s", "最長{1}秒間、セントラルからのペアリングを受け付けます")
        case .pairableOver:
            LocalText("no longer accepting pairing requests", "ペアリングの受け付けを終了しました")
        case .notPaired: LocalText("cannot pair with {1}: {2}", "{1} とペアリングできませんでした: {2}")
        }
    }
}

/// Failures of pairing, and failures to store the keys.
package enum BondFaultText: String, FaultText {
    // Failures of pairing.
    case noAddress, known, nameKnown, knownToKernel, disagreed, declined, notInTime, notBonded, tooWeak, keyTooShort
    case legacyOnly, notReached, busy
    // Failures that concern the bond file.
    case foreign, irregular, unreadable, notKept, full, notPermitted
    // Failures to forget a bond.
    case unknownDevice, neverConnected

    package var said: (cause: LocalText, remedy: LocalText?) {
        switch self {
        case .noAddress:
            cause(
                "{1} has no fixed address, so its bonds could not be recognized later",
                "{1} には固有のアドレスがないため、ペアリングしても次回に認識できません",
                fix: "use a controller with a fixed address",
                "固有のアドレスを持つコントローラーを使用してください"
            )
        case .known:
            cause(
                "{1} is already paired",
                "{1} はペアリング済みです",
                fix: "run `blewedge forget {2}` first: existing keys are never overwritten",
                "先に `blewedge forget {2}` を実行してください。鍵は上書きされません"
            )
        case .nameKnown:
            cause(
                "{1} is the name of the paired device {2}, but {3} is a different device",
                "{1} はペアリング済みのデバイス {2} の名前ですが、{3} は別のデバイスです",
                fix: "if its address changed: `blewedge forget {2}`; to pair with both: `blewedge pair {3}`",
                "アドレスが変わった場合は `blewedge forget {2}`。もう1台もペアリングする場合は `blewedge pair {3}`"
            )
        case .knownToKernel:
            cause(
                "another program has loaded keys of {1} into the kernel",
                "{1} の鍵が、ほかのプログラムによってカーネルに読み込まれています",
                fix: "remove them with `blewedge forget {1}`",
                "`blewedge forget {1}` で削除できます"
            )
        case .disagreed:
            cause(
                "the devices could not agree on keys",
                "デバイスどうしの合意に失敗しました",
                fix: "try again; check that the numbers match, and delete any old pairing on the device",
                "もう一度お試しください。番号が同じか、デバイス側に以前の登録が残っていないか確認してください"
            )
        case .declined: cause("pairing cancelled", "ペアリングしませんでした")
        case .notInTime:
            cause(
                "pairing timed out after {1} s",
                "{1}秒以内にペアリングできませんでした",
                fix: "allow more time with `--seconds`",
                "`--seconds` で時間を延ばせます"
            )
        case .notBonded:
            cause("the device does not store keys, so it could not be recognized later", "デバイスが鍵を保存しないため、次回に識別できません")
        case .tooWeak:
            cause(
                "the device offers less security than required: {1}, with a key of {2} bytes",
                "要求より弱い保護しか得られません: {1}、鍵の長さ{2}バイト"
            )
        case .keyTooShort:
            cause(
                "the device supports only keys of less than 16 bytes, which are insecure",
                "デバイスは16バイト未満の、推測されうる鍵しか作れません"
            )
        case .legacyOnly:
            cause(
                "the device supports only legacy pairing, which provides no authentication",
                "デバイスはレガシーペアリングにしか対応しておらず、その番号では認証になりません",
                fix:
                    "`--security encrypted` allows pairing, but anyone in range at that time can impersonate the device",
                "`--security encrypted` ならペアリングできますが、その時に近くにいた者はデバイスになりすませます"
            )
        case .notReached:
            cause(
                "cannot connect to the device: {1}",
                "デバイスに接続できませんでした: {1}",
                fix: "check that it is on, nearby and in pairing mode",
                "電源、距離、ペアリングできる状態かを確認してください"
            )
        case .busy:
            cause(
                "another device is already being paired",
                "すでにデバイスをペアリング中です",
                fix: "try again when that has finished",
                "終わってからもう一度お試しください"
            )
        case .foreign:
            cause(
                "{1} or its directory belongs to another user",
                "{1} またはそのディレクトリは別のユーザのものです",
                fix: "run as the owner of {2}, or change its owner to this user",
                "{2} の所有者として実行するか、所有者をこのユーザに変更してください"
            )
        case .irregular:
            cause(
                "{1} is not a regular file, or is a hard link that other users can access",
                "{1} は通常のファイルではないか、ほかから参照できるハードリンクです",
                fix: "remove {1} and pair again",
                "{1} を削除し、ペアリングし直してください"
            )
        case .unreadable: cause("cannot read the keys in {1}: {2}", "{1} から鍵を読み取れません: {2}")
        case .notKept:
            cause("cannot save the keys in {1}, the previous ones are kept: {2}", "鍵を {1} に保存できません。以前の鍵はそのままです: {2}")
        case .notPermitted:
            cause(
                "not permitted to use {1}",
                "{1} の使用が許可されていません",
                fix: "run as root, or as the owner of {2}",
                "rootまたは {2} の所有者として実行してください"
            )
        case .full:
            cause(
                "{1} devices are already paired, which is the maximum",
                "ペアリング済みのデバイスが上限の{1}台あります",
                fix: "remove one with `blewedge forget DEVICE`",
                "`blewedge forget DEVICE` で空きを作れます"
            )
        case .unknownDevice:
            cause(
                "{1} is not paired",
                "{1} はペアリングされていません",
                fix: "`blewedge bonds` lists the paired devices",
                "ペアリング済みのデバイスは `blewedge bonds` で表示できます"
            )
        case .neverConnected:
            cause(
                "there is no record of a connection to {1}",
                "{1} への接続の記録はありません",
                fix: "`blewedge devices` lists the known devices",
                "記録は `blewedge devices` で表示できます"
            )
        }
    }
}
