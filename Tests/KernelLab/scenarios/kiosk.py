# SPDX-License-Identifier: GPL-2.0-or-later
#
# A kiosk: Chromium in full screen on a compositor, which reads the product's keyboard through libinput, and a page that reports
# the text typed into its field.

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import kiosk
from bench import REPOSITORY, Bench, booted, compare
from guest import Program
from peer import ean13
from product import Product
from readers import EventReader
from scenarios import scenario
from scenarios.controls import BROKEN, TABLE, must_differ
from scenarios.inputclass import udev
from scenarios.keys import all_typed
from vm import Kind
from waiting import LabError, expect

# MB; the browser's processes need about 700, and the page cache for its files as much
MEMORY = 3072
PAGE_SECONDS = 400
LINE_SECONDS = 60
ROOT, OVER = "/run/lab/kiosk", "/run/lab/kiosk.over"
SERVER = f"{REPOSITORY}/Tests/KernelLab/kioskserver.py"
# Overlay over the read-only packages, with the guest's own devices and udev's database.
MOUNT = f"""
set -e
mkdir -p {ROOT} {OVER}/upper {OVER}/work
mount -t overlay -o lowerdir="$1",upperdir={OVER}/upper,workdir={OVER}/work overlay {ROOT}
for place in proc sys dev; do mount --rbind /$place {ROOT}/$place; done
mkdir -p {ROOT}/dev/shm
for place in tmp run dev/shm; do mount -t tmpfs tmpfs {ROOT}/$place; done
mkdir -m 700 {ROOT}/run/udev {ROOT}/run/session
mount --bind /run/udev {ROOT}/run/udev
busybox ip link set lo up
"""
# The compositor uses a headless screen, rendering on the processor, and the keyboards of the machine.
COMPOSITOR = {
    "HOME": "/tmp",
    "XDG_RUNTIME_DIR": "/run/session",
    "LIBSEAT_BACKEND": "builtin",
    "SEATD_VTBOUND": "0",
    "WLR_BACKENDS": "headless,libinput",
    "WLR_RENDERER": "pixman",
}
# The browser runs as root, and therefore without its sandbox. In the emulator, one of its processes may take more than 15 s to
# answer another, which by default ends the process.
BROWSER = (
    "/usr/lib/chromium/chromium", "--kiosk", "--ozone-platform=wayland", "--disable-gpu", "--no-sandbox", "--no-first-run",
    "--user-data-dir=/tmp/profile", "--ipc-connection-timeout=600", "--disable-background-networking",
    "--disable-component-update", "--disable-extensions",
)  # fmt: skip
BARCODES = 200
# Number of barcodes sent at once; the next ones follow when the page has received them. Each barcode has 56 events, so a queue of
# 256 holds four. Nothing is lost even if the compositor is stopped, or gets no processor time, for longer than the 100 ms that
# pacing allows for.
AT_ONCE = 4
STALL = 100  # milliseconds; the product's default
WORDS = 6
ALL_SENT, END = b"all sent\r", b"the end\r"
EVENTS_OF_END = 4 * len(END)
CONTROLS = 20  # barcodes; more than twice the capacity of a queue of 256
# Stops processes for the given milliseconds at random moments until the end of its standard input. Prints the number of stops and
# the longest one.
STOPPER = """
import json, os, random, select, signal, sys, time
stall, chooser, processes = int(sys.argv[1]) / 1000, random.Random(int(sys.argv[2])), list(map(int, sys.argv[3:]))
stops = longest = 0
while not select.select([sys.stdin], [], [], chooser.uniform(0.05, 0.5))[0]:
    begin = time.monotonic()
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    time.sleep(stall)
    for process in processes:
        os.kill(process, signal.SIGCONT)
    stops, longest = stops + 1, max(longest, time.monotonic() - begin)
print(json.dumps({"stops": stops, "longest": round(longest * 1000)}))
"""


def barcode(number: int) -> bytes:
    """Returns an EAN-13 barcode, or text as in a Code 128 barcode, with shifted, plain and layout-dependent characters."""
    return ean13(number) if number % 2 == 0 else f"bW-{number:03d}/Qz+_\r".encode()


class Page:
    """Reports of the page."""

    def __init__(self, compositor: Program, server: Program) -> None:
        self.compositor = compositor
        self._server = server
        # Bytes of the words sent before the first one arrived in the page, and the number of lines received until then.
        self.greeted = 0
        self._greetings = 0

    @classmethod
    async def open(cls, bench: Bench, tree: Path) -> Page:
        """Opens the page and waits until its field has the focus."""
        await bench.guest.run("sh", "-c", MOUNT, "sh", f"/run/host{tree}", seconds=60)
        server = await bench.start("/usr/bin/python3", SERVER)
        await server.until(lambda: server.objects, "the page's server", 30)
        address = f"http://127.0.0.1:{server.objects[0]['port']}/"
        words = [f"{name}={value}" for name, value in COMPOSITOR.items()]
        compositor = await bench.start("env", *words, "chroot", ROOT, "cage", "--", *BROWSER, f"--app={address}")
        page = cls(compositor, server)
        await page.news("ready", 1, PAGE_SECONDS)
        return page

    async def news(self, event: str, number: int, seconds: float) -> list[dict[str, Any]]:
        """Waits for `number` reports of one kind and returns them."""

        def told() -> list[dict[str, Any]]:
            status = self.compositor.status
            expect(status is None, f"the compositor ended with {status}{self.compositor.evidence()}")
            return self.lines if event == "line" else [o for o in self._server.objects if o["event"] == event]

        await self._server.until(lambda: len(told()) >= number, f"the page tells {event} for the {number}th time", seconds)
        return told()

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Lines after the words of `greet`."""
        return [o for o in self._server.objects if o["event"] == "line"][self._greetings :]

    @property
    def text(self) -> bytes:
        return self.text_from(0)

    def text_from(self, line: int) -> bytes:
        return "".join(f"{line['text']}\r" for line in self.lines[line:]).encode()

    async def greet(self, inner: Bench) -> None:
        """Sends words until one arrives. The page reports that its field has the focus before the compositor sends keys to it."""
        self.greeted = await self.until_word(inner)
        self._greetings = len(self.lines)

    async def until_word(self, inner: Bench) -> int:
        """Sends a word until one arrives in the page, and returns the number of bytes sent.

        A compositor that detects an overflow of its queue discards everything in the queue (libevdev), including the last word.
        """
        sent = 0
        for tries in range(WORDS):
            sent += inner.peer.burst([END])
            try:
                await self._server.until(lambda: self.text.endswith(END), f"word {tries + 1} in the page", 10)
            except LabError:
                continue
            return sent
        raise LabError(f"none of {WORDS} words is in the page")


@asynccontextmanager
async def showing(bench: Bench, *arguments: str, table: bytes = b"") -> AsyncIterator[tuple[Bench, Product, Page]]:
    """Boots a separate machine, connects the product, and opens the page."""
    tree = await asyncio.to_thread(kiosk.root, bench.machine.vm.kernel.folder.parents[1])
    async with booted(bench, "kiosk", Kind(memory=MEMORY)) as inner:
        await inner.set_up("linble")
        await inner.guest.write_file(TABLE, table)
        async with udev(inner):
            product = await inner.connected(*arguments)
            clock = inner.clock()
            page = await Page.open(inner, tree)
            await page.greet(inner)
            words = page.greeted // len(END)
            bench.note = f"{kiosk.browser(tree)}: the page {clock():.0f} s after the compositor's start, typed into by word {words}"
            yield inner, product, page


async def typed(inner: Bench, page: Page, barcodes: list[bytes]) -> int:
    """Sends the barcodes in groups, and then a last word, after which no character of a barcode can arrive. Returns the number of
    bytes."""
    before = len(page.lines)
    groups = [barcodes[at : at + AT_ONCE] for at in range(0, len(barcodes), AT_ONCE)]
    sent = lines = 0
    try:
        for group in [*groups, [END]]:
            sent, lines = sent + inner.peer.burst(group), lines + len(group)
            await page.news("line", before + lines, LINE_SECONDS)
    except LabError:
        compare(b"".join(barcodes)[:sent], page.text_from(before))
        raise
    compare(b"".join([*barcodes, END]), page.text_from(before))
    return sent


def pace(lines: list[dict[str, Any]]) -> str:
    """Returns the typing speed and the longest gaps within a barcode, by the browser's event times and by the times when the page
    received the events."""
    repeats = sum(line["repeats"] for line in lines)
    expect(repeats == 0, f"{repeats} keys were repeated")
    took = (lines[-1]["times"][-1] - lines[0]["times"][0]) / 1000
    characters = sum(len(line["text"]) + 1 for line in lines)
    gaps = {kind: max(b - a for line in lines for a, b in pairwise(line[kind])) for kind in ("times", "heard")}
    return (
        f"{characters} characters, {characters / took:.0f}/s, "
        f"longest gap in a barcode {gaps['times']:.0f} ms, as the page hears it {gaps['heard']:.0f} ms"
    )


@scenario("kiosk-browser", peer="no adapter", deadline=1800, only_long=True, once=True)
async def kiosk_browser(bench: Bench) -> None:
    """A page in Chromium on a kiosk receives 200 barcodes byte for byte, and 200 more while the compositor is stopped repeatedly."""
    barcodes = [barcode(number) for number in range(bench.barcodes or BARCODES)]
    chooser = bench.chooser()
    async with showing(bench) as (inner, product, page):
        sent = await typed(inner, page, barcodes)
        notes = [bench.note, pace(page.lines)]
        # This reader stops and resumes together with the compositor, and its queue has the same length.
        beside = await EventReader.open(inner, product.node, share=True, stopped=True)
        processes = map(str, (page.compositor.pid, beside.program.pid))
        arguments = (str(STALL), str(chooser.getrandbits(32)), *processes)
        stopper = await inner.start("/usr/bin/python3", "-c", STOPPER, *arguments)
        before = len(page.lines)
        sent += await typed(inner, page, barcodes)
        await stopper.close_input()
        expect(await stopper.wait(30) == 0, f"the one that stops the compositor failed{stopper.evidence()}")
        stops = stopper.objects[0]
        expect(stops["stops"] >= 5, f"the compositor was stopped {stops['stops']} times: it proves nothing")
        notes.append(f"stopped {stops['stops']} times, for {stops['longest']} ms at most: {pace(page.lines[before:])}")
        summary = await beside.summary()
        expect(summary["dropped"] == 0, f"SYN_DROPPED beside the compositor: {summary}")
        events = summary["presses"] + summary["releases"] + summary["frames"] - EVENTS_OF_END
        at_once = AT_ONCE * events / len(barcodes)
        expect(64 < at_once < 256, f"{AT_ONCE} barcodes have {at_once:.0f} events: what was to be seen of the queue is not")
        notes.append(f"{AT_ONCE} at once have {at_once:.0f} events")
        await product.end(signal.SIGINT, 130)
        counts = product.counts()
        all_typed(counts, 2 * (len(barcodes) + 1) + page.greeted // len(END), sent + page.greeted)
        bench.account(sent, len(page.text), counts)
        bench.note = "; ".join(notes)


@scenario("control-kiosk", peer="no adapter", deadline=1800, only_long=True, once=True)
async def control_kiosk(bench: Bench) -> None:
    """Negative control: wrong characters from a table, and characters lost by a compositor that stops for too long, are detected."""
    async with showing(bench, "--table", TABLE, table=BROKEN) as (inner, product, page):
        barcodes = [barcode(number) for number in range(CONTROLS)]
        meant = b"".join(barcodes[:AT_ONCE])
        sent = inner.peer.burst(barcodes[:AT_ONCE])
        await page.news("line", AT_ONCE, LINE_SECONDS)
        must_differ(meant, page.text)
        compare(meant.replace(b"0", b"1"), page.text)

        # The reader that resumes receives the last word. This one may also be late on a busy machine.
        witness, beside = [await EventReader.open(inner, product.node, share=True, stopped=True) for _ in range(2)]
        for program in (page.compositor, beside.program):
            await inner.guest.halt(program)
        sent += inner.peer.burst([*barcodes, ALL_SENT])
        await witness.program.until(lambda: witness.text.endswith(ALL_SENT), "all is typed", LINE_SECONDS)
        for program in (page.compositor, beside.program):
            await program.signal(signal.SIGCONT)
        sent += await page.until_word(inner)
        summary = await beside.summary()
        expect(summary["dropped"] > 0, f"no SYN_DROPPED beside the compositor: {summary}")
        must_differ(b"".join([*barcodes, ALL_SENT, END]).replace(b"0", b"1"), page.text_from(AT_ONCE))
        await product.end(signal.SIGINT, 130)
        bench.account(sent, len(page.text), product.counts())
        expect(bench.figures["lost"] > 0, f"nothing was lost: {bench.figures}")
        bench.note += f"; noticed: wrong characters, and {bench.figures['lost']} lost; SYN_DROPPED {summary['dropped']} times"
