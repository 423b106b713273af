# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts of the pages in both languages, and checks that apply to every terminal.

Used with tmux (run) and with the kernel's own terminal (../KernelLab/console.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

WORDS = {
    "en": dict(closed="Paused: received data is", connect="[->] Device connected", guide="How to add the keyboard", next="[->] Device selected", chosen="LINBLE-TEST is selected.",
               attempt="[->] Received data shown below", all="[ok] Received data shown below", pressed="Pressed: 3",
               open="is not paired. Anyone can", paused="Paused.", resumed="Resumed.", ask="Switch to LT01 BC000120?", typed="Typed: bold",
               switched="LT01 BC000120 is selected.", lost="No daemon is running.", back="Connected to the daemon.", rows="LT01 BC000120",
               kept="Saved in", disconnected="disconnected from", received="* received", field="Typed text", last="Last received",
               untypable="U+20AC has no key", japanese="日本語", sighted="3 s ago"),
    "ja": dict(closed="一時停止中です", connect="[次] デバイスと接続している", guide="キーボードの追加方法", next="[次] デバイスを選択している", chosen="LINBLE-TEST を選択しました。",
               attempt="[次] 受信データがここに表示される", all="[済] 受信データがここに表示される", pressed="押しました: 3",
               open="ペアリングされていません", paused="一時停止しました。", resumed="再開しました。", ask="切り替えますか?", typed="入力しました: bold",
               switched="LT01 BC000120 を選択しました。", lost="デーモンが動いていません。", back="デーモンに接続しました。",
               rows="LT01 BC000120", kept="保存しました", disconnected="切断しました", received="* 受信",
               field="入力された文字", last="最終受信", untypable="U+20AC has no key", japanese="日本語", sighted="3秒前"),
}


def shows(screen: str, texts: Iterable[str], without: Iterable[str] = ()) -> bool:
    """Returns true if a screen contains all these texts, ignoring line breaks, and none of the others.

    `||` separates alternatives. The frames around the pages are ignored.
    """
    flat = re.sub(r"[\s│]+", "", re.sub(r"(?m)^\||\|$", "", screen))
    has = all(any(re.sub(r"\s+", "", part) in flat for part in text.split("||")) for text in texts)
    return has and not any(text in screen for text in without)


def given_back(settings: str) -> str:
    """Returns the terminal settings that are wrong for a shell, from the output of `stty -a`; empty if all are right."""
    words = settings.replace(";", " ").split()
    missing = [word for word in ("icanon", "echo", "isig", "icrnl") if word not in words]
    return f"the terminal is not as it was: no {', '.join(missing)}" if missing else ""
