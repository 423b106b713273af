# SPDX-License-Identifier: GPL-2.0-or-later
#
# Replays Tests/Vectors/typing with real keyboards: the peer sends the notifications, and the keys are read from the evdev node.

from __future__ import annotations

import json
import signal

from bench import Bench
from daemons import fresh, start, tell, until_connected, use_open, write
from peer import NAME
from product import Product
from readers import EventReader
from scenarios import scenario
from talks import COUNTED, Settings, Stroke, Talk, playable_talks, read_bytes, strokes
from waiting import LabError, expect

TABLE = "/run/lab/conversation.table"
SNIPPETS = "/etc/blewedge/snippets.json"
LONGEST = 200  # length of a notification in bytes that every MTU of the peer allows
READ = bytes.fromhex("0a0100")  # a request; its response shows that all earlier packets were received
MOST = 16  # maximum number of settings in the short tier
AHEAD = 100  # maximum number of keystrokes not yet typed when further bytes are sent
SPACER = b"\0"  # not typed by any table; separates a CR from the LF of the next conversation


async def options(bench: Bench, settings: Settings) -> list[str]:
    """Returns the command-line options for these settings, and writes the files that they name."""
    rules = [value for name, value in settings if name == "rule"]
    meanings = [value.split(" = ") for name, value in settings if name == "received"]
    words = [word for name, value in settings if name not in ("rule", "received", "open") for word in (f"--{name}", value) if word]
    if rules:
        await bench.guest.write_file(TABLE, "".join(f"{rule}\n" for rule in rules).encode())
        words += ["--table", TABLE]
    if meanings:
        snippets = {
            f"lab {number}": {"text": text.replace("{left}", ""), "received": read_bytes(code).decode()}
            for number, (code, text) in enumerate(meanings)
        }
        await write(bench, SNIPPETS, json.dumps(snippets))
    return words


async def started(bench: Bench, settings: Settings, has_client: bool) -> tuple[Product, EventReader]:
    """Starts the product with these settings (the daemon if a client requests keys), waits for the connection, and returns it
    with a reader of its keys."""
    await fresh(bench)
    words = await options(bench, settings)
    product = await start(bench, *words) if has_client else await bench.run(*words)
    reader = await EventReader.open(bench, product.node, keys=True)
    if has_client:
        await use_open(bench)
    await until_connected(bench, product)
    return product, reader


class Group:
    """Conversations with the same settings, replayed in one run of the product."""

    def __init__(self, bench: Bench, product: Product, reader: EventReader) -> None:
        self._bench = bench
        self._product = product
        self._reader = reader
        self._sent = b""
        self._wanted: list[tuple[str, list[Stroke]]] = []  # expected strokes of each conversation, in order
        self._counts = dict.fromkeys(COUNTED, 0)

    def _compare(self, came: list[Stroke]) -> None:
        for name, wanted in self._wanted:
            differs = next((at for at, pair in enumerate(zip(wanted, came, strict=False)) if pair[0] != pair[1]), None)
            expect(differs is None, f"{name}: {wanted[differs or 0 :][:5]} wanted, {came[differs or 0 :][:5]} came")
            came = came[len(wanted) :]
        expect(not came, f"{came[:5]} came after all that was wanted")

    async def _seen(self, count: int) -> None:
        """Waits for the first `count` expected strokes."""
        try:
            await self._reader.program.until(lambda: len(strokes(self._reader.keys)) >= count, f"{count} keystrokes", 20)
        except LabError:
            self._compare(strokes(self._reader.keys))
            raise

    async def play(self, talk: Talk) -> None:
        before = sum(len(wanted) for _, wanted in self._wanted)
        # Do not send far ahead of the typing, because text that waits longer than the maximum age is discarded.
        await self._seen(before - AHEAD)
        self._wanted.append((talk.name, talk.strokes))
        for part in COUNTED:
            self._counts[part] += talk.account.get(part, 0)
        for number, step in enumerate(talk.steps):
            if talk.has_client:
                await self._seen(before + talk.expected[number])
            if step.keys:
                await tell(self._bench, "key", *step.keys)
                continue
            if number == 0 and self._sent.endswith(b"\r") and step.value.startswith(b"\n"):
                expect(("scan", "") not in talk.settings, f"{talk.name}: a scan cannot begin with a line feed here")
                self._bench.peer.notify(SPACER)
                self._counts["received"] += len(SPACER)
                self._counts["discarded"] += len(SPACER)
            self._bench.peer.burst(step.value[at : at + LONGEST] for at in range(0, len(step.value), LONGEST))
            self._sent = step.value

    async def end(self, settings: Settings) -> None:
        """Ends the product, and compares the strokes and the counts."""
        await self._seen(sum(len(wanted) for _, wanted in self._wanted))
        await self._bench.peer.ask(READ)
        await self._product.end(signal.SIGINT, 130)
        await self._reader.program.wait(10)
        summary = next(o["summary"] for o in self._reader.program.objects if "summary" in o)
        expect(summary["dropped"] == 0, f"the reader was too slow: {summary}")
        expect(summary["disorder"] == 0 and not summary["held"], f"presses and releases do not alternate: {summary}")
        self._compare(strokes(self._reader.keys))
        counts = self._product.counts()
        for part, wanted in self._counts.items():
            expect(counts[part] == wanted, f"{wanted} bytes {part} wanted with {settings}: {counts}")
        await self._bench.peer.until_alone()


@scenario("conversations", deadline=240, once=True)
async def conversations(bench: Bench) -> None:
    """LK-21, LK-23, X-12, HK-1: conversations of Tests/Vectors/typing that need no clock produce the expected keystrokes and accounts."""
    talks = playable_talks()
    groups: dict[tuple[Settings, bool], list[Talk]] = {}
    for talk in talks:
        groups.setdefault((talk.settings, talk.has_client), []).append(talk)
    # Each start of the product takes a second or more, so the short tier covers only the settings with the most conversations.
    by_size = sorted(groups.items(), key=lambda item: (len(item[1]), len(item[0][0])), reverse=True)
    chosen = by_size[: None if bench.long else MOST]
    for (settings, has_client), group in chosen:
        player = Group(bench, *await started(bench, settings, has_client))
        for talk in group:
            await player.play(talk)
        await player.end(settings)
    await fresh(bench)
    played = sum(len(group) for _, group in chosen)
    bench.note = f"{played} of {len(talks)} conversations, {len(chosen)} of {len(groups)} settings"
