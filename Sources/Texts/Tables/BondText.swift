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
            LocalText("listening for {1}: it must be ready to pair", "{1} を探しています。ペアリングできる状態にしてください")
        case .pairing: LocalText("pairing with {1}", "{1} とペアリングしています")
        case .compare:
            LocalText("Does the other device show {1}? [y/N] ", "相手のデバイスに {1} と表示されていますか? [y/N] ")
        case .enter:
            LocalText("The six digits that the other device shows: ", "相手のデバイスに表示された6桁の数字: ")
        case .notSixDigits: LocalText("these are not six digits", "6桁の数字ではありません")
        case .show: LocalText("enter {1} at the other device", "相手のデバイスで {1} を入力してください")
        case .paired:
            LocalText("paired with {1}: encrypted, and authenticated by a number", "{1} とペアリングしました: 暗号化され、番号で認証されています")
        case .pairedOpenly:
            LocalText(
                "paired with {1}: encrypted, but not authenticated; who stood between the two at this moment reads along",
                "{1} とペアリングしました: 暗号化されますが、認証されていません。この時に割り込んだ者がいれば傍受できます"
            )
        case .pairedLegacy:
            LocalText(
                "paired with {1}: encrypted, by legacy pairing, which authenticates nobody; who listened meanwhile has the keys",
                "{1} とペアリングしました: 暗号化されますが、レガシーペアリングのため認証されていません。この時に傍受した者は鍵を得られます"
            )
        case .noBonds: LocalText("no device is paired", "ペアリング済みのデバイスはありません")
        case .forgotten: LocalText("the keys of {1} are removed", "{1} の鍵を削除しました")
        case .onlyInKernel:
            LocalText("the kernel had keys of {1}: removed", "カーネルにあった {1} の鍵を削除しました")
        case .brokenLines:
            LocalText("{1}: {2} broken records are skipped (lines {3})", "{1}: 壊れた記録{2}件を飛ばしました({3}行目)")
        case .tightened:
            LocalText("{1} could be read by others: now by its owner alone", "{1} は他のユーザから読めたため、所有者だけが読めるようにしました")
        case .columnDevice: LocalText("DEVICE", "デバイス")
        case .columnAdapter: LocalText("ADAPTER", "アダプタ")
        case .columnSecurity: LocalText("SECURITY", "セキュリティ")
        case .authenticated: LocalText("authenticated", "認証済み")
        case .encrypted: LocalText("encrypted, not authenticated", "暗号化のみ(認証なし)")
        case .legacy: LocalText("encrypted, legacy: not authenticated", "暗号化のみ(レガシー、認証なし)")
        case .pairsFor:
            LocalText("for {1} s at most; Ctrl-C ends", "最長{1}秒。Ctrl-Cで終了します")
        case .pairable:
            LocalText("a central that asks for it is paired with, for {1} s at most", "最長{1}秒間、セントラルからのペアリングを受け付けます")
        case .pairableOver:
            LocalText("no central may pair any more", "ペアリングの受け付けを終了しました")
        case .notPaired: LocalText("not paired with {1}: {2}", "{1} とペアリングできませんでした: {2}")
        }
    }
}

/// Failures of pairing, and of storing the keys.
package enum BondFaultText: String, FaultText {
    // Pairing.
    case noAddress, known, nameKnown, knownToKernel, disagreed, declined, notInTime, notBonded, tooWeak, keyTooShort
    case legacyOnly, notReached, busy
    // The file.
    case foreign, irregular, unreadable, notKept, full, notPermitted
    // Forgetting.
    case unknownDevice, neverConnected

    package var said: (cause: LocalText, remedy: LocalText?) {
        switch self {
        case .noAddress:
            cause(
                "{1} has no address of its own, by which a bond would be found again",
                "{1} には固有のアドレスがないため、ペアリングしても次回に認識できません",
                fix: "use a controller that has one",
                "固有のアドレスを持つコントローラーを使用してください"
            )
        case .known:
            cause(
                "{1} is paired already",
                "{1} はペアリング済みです",
                fix: "`blewedge forget {2}` first: a key is never overwritten",
                "先に `blewedge forget {2}` を実行してください。鍵は上書きされません"
            )
        case .nameKnown:
            cause(
                "{1} is the name of the paired device {2}, and {3} is another",
                "{1} はペアリング済みのデバイス {2} の名前ですが、{3} は別のデバイスです",
                fix: "`blewedge forget {2}` if it has a new address; `blewedge pair {3}` pairs with the other too",
                "アドレスが変わった場合は `blewedge forget {2}`。もう1台もペアリングする場合は `blewedge pair {3}`"
            )
        case .knownToKernel:
            cause(
                "the kernel has keys of {1} that another program has loaded",
                "{1} の鍵が、ほかのプログラムによってカーネルに読み込まれています",
                fix: "`blewedge forget {1}` removes them",
                "`blewedge forget {1}` で削除できます"
            )
        case .disagreed:
            cause(
                "the devices did not agree",
                "デバイスどうしの合意に失敗しました",
                fix: "try again; is the number the same, and does the device know this machine from before?",
                "もう一度お試しください。番号が同じか、デバイス側に以前の登録が残っていないか確認してください"
            )
        case .declined: cause("not paired: you said no", "ペアリングしませんでした")
        case .notInTime:
            cause(
                "not paired within {1} s",
                "{1}秒以内にペアリングできませんでした",
                fix: "`--seconds` gives more time",
                "`--seconds` で時間を延ばせます"
            )
        case .notBonded:
            cause("the device keeps no key: it would be a stranger the next time", "デバイスが鍵を保存しないため、次回に識別できません")
        case .tooWeak:
            cause(
                "the device offers less than was asked for: {1}, with a key of {2} bytes",
                "要求より弱い保護しか得られません: {1}、鍵の長さ{2}バイト"
            )
        case .keyTooShort:
            cause(
                "the device makes only keys of less than 16 bytes, which can be guessed",
                "デバイスは16バイト未満の、推測されうる鍵しか作れません"
            )
        case .legacyOnly:
            cause(
                "the device knows only legacy pairing, whose number authenticates nobody",
                "デバイスはレガシーペアリングにしか対応しておらず、その番号では認証になりません",
                fix: "`--security encrypted` pairs all the same; anybody who was near then can pass for the device",
                "`--security encrypted` ならペアリングできますが、その時に近くにいた者はデバイスになりすませます"
            )
        case .notReached:
            cause(
                "the device could not be connected to: {1}",
                "デバイスに接続できませんでした: {1}",
                fix: "is it on, near, and ready to pair?",
                "電源、距離、ペアリングできる状態かを確認してください"
            )
        case .busy:
            cause(
                "a device is being paired already",
                "すでにデバイスをペアリング中です",
                fix: "try again when that has ended",
                "終わってからもう一度お試しください"
            )
        case .foreign:
            cause(
                "{1} or its directory belongs to another user",
                "{1} またはそのディレクトリは別のユーザのものです",
                fix: "run as the owner of {2}, or give it to this user",
                "{2} の所有者として実行するか、所有者をこのユーザに変更してください"
            )
        case .irregular:
            cause(
                "{1} is no regular file, or is a hard link to one that others can reach",
                "{1} は通常のファイルではないか、ほかから参照できるハードリンクです",
                fix: "remove {1} and pair again",
                "{1} を削除し、ペアリングし直してください"
            )
        case .unreadable: cause("cannot read the keys in {1}: {2}", "{1} から鍵を読み取れません: {2}")
        case .notKept:
            cause("cannot keep the keys in {1}, those from before stay: {2}", "鍵を {1} に保存できません。以前の鍵はそのままです: {2}")
        case .notPermitted:
            cause(
                "not permitted to use {1}",
                "{1} の使用が許可されていません",
                fix: "run as root, or as the owner of {2}",
                "rootまたは {2} の所有者として実行してください"
            )
        case .full:
            cause(
                "{1} devices are paired, and there is no room for more",
                "ペアリング済みのデバイスが上限の{1}台あります",
                fix: "`blewedge forget DEVICE` makes room",
                "`blewedge forget DEVICE` で空きを作れます"
            )
        case .unknownDevice:
            cause(
                "{1} is not paired",
                "{1} はペアリングされていません",
                fix: "`blewedge bonds` shows who is",
                "ペアリング済みのデバイスは `blewedge bonds` で表示できます"
            )
        case .neverConnected:
            cause(
                "no connection to {1} is known",
                "{1} への接続の記録はありません",
                fix: "`blewedge devices` lists the known devices",
                "記録は `blewedge devices` で表示できます"
            )
        }
    }
}
