# SPDX-License-Identifier: GPL-2.0-or-later
#
# The options of scan mode, on the command line and in the configuration file: the same barcodes, keys and counts.

from __future__ import annotations

import signal

from bench import Bench
from daemons import chosen, fresh, status, tell, until_connected, until_count, until_status
from product import Product
from readers import EventReader
from scenarios import scenario
from talks import Stroke, key_codes, read_bytes, read_changes, strokes
from waiting import LabError, expect

# ETX ends a scan here, so a CR is part of it. The device is unpaired, so only a terminator may press Enter (D-2).
RULES = [
    ("prefix", "{f9}X"), ("suffix", "{tab}"), ("terminator", "etx"), ("min-length", "2"), ("max-length", "6"),
    ("duplicates", "30s"),
]  # fmt: skip
BARCODES = ['"12" 03', '"12" 03', '"34" 03', '"5" 03', '"123456" 03', '"1234567" 03', '"7" 0D "8" 03']
KEYS = 'f9 shift+x "12" tab f9 shift+x "34" tab f9 shift+x "123456" tab f9 shift+x 7 8 tab'
ACCOUNT = {"received": 32, "typed": 12, "discarded": 5, "withheld": 1, "duplicate": 3, "tooShort": 2, "tooLong": 8, "gated": 0}
ACCOUNT |= {"disconnected": 2, "lost": 2}  # the device disconnects before their terminator arrives
NUMBERS = ("min-length", "max-length")
SILENCE = ["--scan", "--terminator", "none", "--idle-gap", "2s", "--suffix", "{enter}", "--max-age", "0"]


def in_file() -> str:
    """Returns the rules as a configuration file, with key requests from clients disabled."""
    lines = [f"{name} = {value}" if name in NUMBERS else f'{name} = "{value}"' for name, value in RULES]
    return 'keys = false\nmax-age = "0s"\n[scan-mode]\non = true\n' + "".join(f"{line}\n" for line in lines)


async def until_keys(reader: EventReader, keys: str) -> None:
    """Waits for exactly these keystrokes."""
    wanted: list[Stroke] = strokes(read_changes(keys, key_codes()))
    came = lambda: strokes(reader.keys)  # noqa: E731
    try:
        await reader.program.until(lambda: len(came()) >= len(wanted), f"{len(wanted)} keystrokes", 20)
    except LabError as error:
        raise LabError(f"{error}: {came()} came, {wanted} wanted") from None
    expect(came() == wanted, f"{came()} came, {wanted} wanted")


async def ended(bench: Bench, product: Product, number: signal.Signals, code: int, wanted: dict[str, int]) -> None:
    await product.end(number, code)
    counts = product.counts()
    for name, count in wanted.items():
        expect(counts[name] == count, f"{name} is {counts[name]}, {count} wanted: {counts}")
    await bench.peer.until_alone()


def send(bench: Bench) -> int:
    """Sends the barcodes, and the beginning of another one."""
    return bench.peer.burst([*map(read_bytes, BARCODES), b"99"])


@scenario("scan-options", deadline=150, once=True)
async def scan_options(bench: Bench) -> None:
    """X-12, LK-22: scan mode's options, for `run` and in the file: keys and account; `--gate-vt` types in the foreground only."""
    await fresh(bench)
    await bench.guest.run("chvt", "3")
    words = [word for name, value in RULES for word in (f"--{name}", value)]
    product = await bench.run("--scan", *words, "--gate-vt", "3", "--max-age", "0")
    reader = await EventReader.open(bench, product.node, keys=True)
    await until_connected(bench, product)
    sent = send(bench)
    await until_keys(reader, KEYS)
    await until_count(bench, "received", sent)
    await bench.guest.run("chvt", "4")
    await until_status(bench, 10, "the gate is closed", lambda answer: answer["gate"] == "closed")
    sent += bench.peer.burst([b"88\x03"])
    await until_count(bench, "gated", 5)
    # Text that waits when the gate closes is rejected with the rest (D-1).
    await ended(bench, product, signal.SIGINT, 130, ACCOUNT | {"received": 35, "gated": 5, "disconnected": 0, "lost": 0})
    await until_keys(reader, KEYS)

    product = await bench.run(*SILENCE)
    reader = await EventReader.open(bench, product.node, keys=True)
    await until_connected(bench, product)
    clock = bench.clock()
    sent += bench.peer.burst([b"AB", b"\rCD"])
    await until_keys(reader, "shift+a shift+b shift+c shift+d enter")
    silence = clock()
    expect(silence > 1.9, f"typed {silence:.1f} s after it was sent, before the silence of 2 s was over")
    await ended(bench, product, signal.SIGINT, 130, {"received": 5, "typed": 4, "discarded": 1, "withheld": 1})

    daemon, reader = await chosen(bench, configuration=in_file())
    reader = await retaken(bench, daemon, reader)
    sent += send(bench)
    await until_keys(reader, KEYS)
    await until_count(bench, "received", ACCOUNT["received"])
    await ended(bench, daemon, signal.SIGTERM, 143, ACCOUNT)
    bench.figures = {"sent": sent}
    bench.note = f"{len(RULES)} rules twice, a silence of {silence:.1f} s"
    await fresh(bench)


async def retaken(bench: Bench, daemon: Product, reader: EventReader) -> EventReader:
    """Replaces a reader that returns text by one that returns keys."""
    await reader.summary()
    return await EventReader.open(bench, daemon.node, keys=True)


@scenario("keys-off", deadline=120, once=True)
async def keys_off(bench: Bench) -> None:
    """HK-1, LK-23: with `keys = off`, `key`, `snippet` and `clear` are refused even to root and press nothing; the device types."""
    daemon, reader = await chosen(bench, configuration="keys = false\n")
    for words in (("key", "1"), ("snippet", "bold"), ("clear",)):
        said = await tell(bench, *words, code=77)
        expect("are disabled" in said, f"{words[0]} is refused with {said!r}")
    sent = bench.peer.burst([b"49\r"])
    await reader.until(sent, 20)
    expect(reader.text == b"49\r", f"typed was {reader.text!r}")
    expect((await status(bench))["counts"]["typed"] == sent, "the account has another number")
    await daemon.end(signal.SIGTERM, 143)
    summary = await ended_reader(reader)
    expect(summary["presses"] == sent, f"keys that nobody sent: {summary}")
    bench.account(sent, len(reader.text), daemon.counts())
    await fresh(bench)


async def ended_reader(reader: EventReader) -> dict[str, int]:
    await reader.program.wait(10)
    return dict(next(o["summary"] for o in reader.program.objects if "summary" in o))
