# SPDX-License-Identifier: GPL-2.0-or-later
#
# The pages on a virtual terminal, on which the product's own keyboard types.

from __future__ import annotations

import signal

from bench import BINARY, Bench
from console import KEYS, Console, Hands
from daemons import CONFIGURATION, fresh, start, status, tell, until_count, until_status, write
from guest import Program
from peer import ADDRESS, NAME, ean13
from readers import TERMINAL, EventReader
from scenarios import scenario
from waiting import expect
from words import WORDS

SAY, JAPANESE = WORDS["en"], WORDS["ja"]
TAB = "F1 Devices F2 Check F3 Keypad F4 Snippets F5 Settings F6 Guide F11 Beacons"

# Frame and bar characters that console fonts have, from code page 437.
CONSOLE_GLYPHS = set("┌┐└┘─│▄█░")


async def choose(bench: Bench, hands: Hands, console: Console) -> None:
    """Opens the devices page and selects the device."""
    text = await console.until(TAB, NAME, "[Use]", "no device selected")
    expect(set(text) - CONSOLE_GLYPHS <= set(map(chr, range(128))), f"characters without a glyph on the console:\n{text}")
    await hands.press("Enter")
    # Enter alone chooses No.
    await console.until(f"{NAME} is not paired", "[ OK ]", seconds=60)
    await hands.press("Right", "Enter")
    await console.until(f"connected to {NAME}", f"* {NAME}", seconds=60)
    await bench.peer.until_subscribed()
    chosen = (await status(bench))["selection"]
    expect(chosen["address"] == ADDRESS, f"chosen is {chosen}")


async def check(bench: Bench, hands: Hands, console: Console) -> str:
    """Checks that received text appears in the field of the check page, and corrects its end with the keypad."""
    await hands.press("F2")
    await console.until(SAY["field"], "Nothing received yet.")
    code = ean13(7).decode().rstrip()
    bench.peer.burst([ean13(7)])
    await console.until_line(code)
    await console.until(SAY["last"], "received 14, typed 14")
    await hands.press("F3")
    await console.until("The arrows select a key")
    await hands.press("Right", "Right", "Right", "Right", "Enter")
    await console.until("Pressed: BS")
    await hands.press("Enter")
    await console.until_line(code[:-1])
    await hands.press("Left", "Enter")
    await console.until_line(code[:-1] + "3")
    return code[:-1] + "3"


async def snippet(reader: EventReader, hands: Hands, console: Console, field: str) -> str:
    """Inserts a tag, and types a letter at the position of the cursor in it."""
    await hands.press("F4")
    await console.until("<b></b>, then Left 4 times")
    await hands.press("Enter")
    await reader.program.until(lambda: reader.keys.count((KEYS["Left"], 0)) == 4, "the way to the input point", 20)
    await console.until_line(f"{field}<b></b>")
    await hands.press("x")
    await console.until_line(f"{field}<b>x</b>")
    return f"{field}<b>x</b>"


async def settings_and_guide(bench: Bench, hands: Hands, console: Console) -> None:
    """Checks that a setting is saved, that the guide shows all steps as done, and that Escape cancels a question."""
    await hands.press("F5")
    await console.until("Show the connection state", f"connected to {NAME}")
    await hands.press("Enter")
    await console.until("Saved in /etc/blewedge/blewedge.toml", without=(f"connected to {NAME}",))
    await hands.press("Enter")
    await console.until(f"connected to {NAME}")
    await hands.press("F6")
    await console.until(SAY["all"], "[ok] Device connected")
    await hands.press("F1", "Enter")
    await console.until(f"Forget {NAME}?")
    await hands.press("Right", "Escape")
    await console.until(f"* {NAME}", without=("Forget LINBLE",))
    expect((await status(bench))["selection"]["address"] == ADDRESS, "Escape has dropped the choice")


async def pause(bench: Bench, hands: Hands, console: Console) -> None:
    """Pauses, and checks that text received meanwhile is rejected and not typed later."""
    await hands.press("F9")
    await console.until(SAY["closed"])
    await until_status(bench, 10, "the gate is closed", lambda answer: answer["gate"] == "closed")
    bench.peer.burst([ean13(8)])
    await until_count(bench, "gated", 14)
    await hands.press("F9")
    await console.until(SAY["resumed"])
    await hands.press("F2")
    bench.peer.burst([ean13(9)])
    # Typed inside the tag, where the cursor was left.
    await console.until(f"<b>x{ean13(9).decode().rstrip()}", without=(ean13(8).decode().rstrip(),))


@scenario("tui-console", deadline=240, once=True)
async def tui_console(bench: Bench) -> None:
    """LK-1, LK-13, LK-14, LK-22, LK-23, LK-24, HK-2, HK-4: every page on a virtual terminal without a desktop, in English."""
    await fresh(bench)
    await write(bench, CONFIGURATION, 'snippets = "habr"\n')
    daemon = await start(bench)
    hands = await Hands.open(bench)
    # Keys typed while no program reads: the kernel keeps them for the next program that opens the terminal, which must ignore
    # them.
    await bench.guest.run("chvt", TERMINAL)
    await hands.press("1", "2", "3")
    console = await Console.open(bench, BINARY, "tui")
    await choose(bench, hands, console)
    expect(not await console.shows_cursor(), "the pages leave the terminal its cursor")
    field = await check(bench, hands, console)
    reader = await EventReader.open(bench, daemon.node, share=True, keys=True)
    await snippet(reader, hands, console, field)
    await settings_and_guide(bench, hands, console)
    await pause(bench, hands, console)
    await hands.press("F8")
    await console.until(f"disconnected from {NAME}", "to connect:")
    await bench.peer.until_alone()
    await hands.press("F10")
    await console.ended(hands, 0)
    # Japanese is used if it is requested explicitly.
    console = await Console.open(bench, BINARY, "tui", "--language", "ja")
    await console.until(JAPANESE["disconnected"], "F10 終了")
    await hands.press("F10")
    await console.ended(hands, 0)
    await daemon.end(signal.SIGTERM, 143)
    counts = daemon.counts()
    expect(counts["gated"] == 14 and counts["typed"] == 28, f"counted: {counts}")
    bench.account(42, counts["typed"] + counts["gated"], counts)
    bench.note = f"{len(KEYS)} keys, 6 pages, two ends"
    await fresh(bench)


async def ended_by_hangup(bench: Bench, terminal: Program) -> None:
    """Closes the terminal, and waits until the pages on it have ended."""
    pages = (await bench.guest.run("pgrep", "-x", "-f", f"{BINARY} tui")).out.split()
    expect(len(pages) == 1, f"the pages are the processes {pages}")
    await terminal.signal(signal.SIGKILL)
    await terminal.wait(20)
    gone = 'for i in $(seq 100); do grep -qs "^State:.[RSDT]" /proc/$1/status || exit 0; sleep 0.1; done; exit 1'
    await bench.guest.run("sh", "-c", gone, "sh", pages[0])


async def types_on(bench: Bench, number: int) -> None:
    """Checks that the daemon started by the pages types, over the same link as before."""
    answer = await status(bench)
    expect(answer["state"] == "connected", f"the state is {answer['state']}")
    reader = await EventReader.open(bench, answer["keyboard"])
    sent = bench.peer.burst([ean13(number)])
    await reader.until(sent, 20)
    expect(reader.text == ean13(number), f"typed was {reader.text!r}")
    await reader.program.stop()


@scenario("tui-own-daemon", deadline=300, once=True)
async def tui_own_daemon(bench: Bench) -> None:
    """LK-17: a daemon started by the pages survives them and their terminal; `disconnect` ends its link, `stop` ends the daemon."""
    for end in ("F10", "hang-up"):
        await fresh(bench)
        line = f"stty cols 80 rows 24; TERM=linux LANG=C exec {BINARY} tui"
        terminal = await bench.start("script", "-qec", line, "/dev/null")
        await terminal.until(lambda: "Press Enter to start one" in terminal.out, "the pages", 20)
        await terminal.write(b"\r")
        await terminal.until(lambda: f" {NAME} " in terminal.out, "the device, as the daemon of the pages has heard it", 60)
        await terminal.write(b"\r")
        await terminal.until(lambda: "Anyone" in terminal.out, "the question", 60)
        await terminal.write(b"\x1b[C")
        await terminal.write(b"\r")
        await until_status(bench, 40, "connected", lambda answer: answer["state"] == "connected")
        await bench.peer.until_subscribed()
        links = bench.peer.connections
        if end == "F10":
            await terminal.write(b"\x1b[21~")
            expect(await terminal.wait(20) == 0, f"the pages end with {terminal.status}")
        else:
            await ended_by_hangup(bench, terminal)
        await types_on(bench, 1)
        expect(bench.peer.connections == links, "the link is another one")
        await tell(bench, "disconnect")
        await bench.peer.until_alone()
        await tell(bench, "connect")
        await bench.peer.until_subscribed(40)
        await tell(bench, "stop")
        await bench.peer.until_alone()
        await bench.monitor.until_quiet()
        await tell(bench, "status", code=69)
    await fresh(bench)
    bench.note = "ended by its key, and by its terminal"


SERVICE = "/run/lab/service"
UNIT = "/etc/systemd/system/blewedge.service"


async def manager(bench: Bench, *lines: str) -> None:
    """Installs a substitute for `systemctl` that runs these lines."""
    await write(bench, f"{SERVICE}/systemctl", "\n".join(("#!/bin/sh", f'echo "$@" >>{SERVICE}/asked', *lines)) + "\n")
    await bench.guest.run("chmod", "755", f"{SERVICE}/systemctl")


async def check_page(bench: Bench) -> Program:
    """Opens the pages on a terminal, and then the check page."""
    line = f"stty cols 80 rows 24; TERM=linux LANG=C PATH={SERVICE}:$PATH exec {BINARY} tui"
    terminal = await bench.start("script", "-qec", line, "/dev/null")
    await terminal.until(lambda: "Press Enter to start one" in terminal.out, "the pages", 20)
    await terminal.write(b"\x1b2")
    return terminal


@scenario("tui-service", peer="no adapter", deadline=120, once=True)
async def tui_service(bench: Bench) -> None:
    """LK-14: without a daemon, the check page reports that no service is installed or why it does not start, or starts it permanently."""
    await fresh(bench)
    await bench.guest.run("mkdir", "-p", "/run/systemd/system")
    try:
        terminal = await check_page(bench)
        await terminal.until(lambda: "service is installed (run `blewedge setup`" in terminal.out, "what is missing", 20)
        await ended_by_hangup(bench, terminal)
        await write(bench, UNIT, "[Service]\n")
        await manager(bench, "echo 'Unit blewedge.service is masked.'", "exit 1")
        terminal = await check_page(bench)
        await terminal.until(lambda: "service: Unit blewedge.service is masked." in terminal.out, "why it did not start", 20)
        await ended_by_hangup(bench, terminal)
        await manager(bench, f"setsid {BINARY} run >/dev/null 2>&1 </dev/null &")
        terminal = await check_page(bench)
        await terminal.until(lambda: "Bluetooth is off" in terminal.out, "the service's daemon", 30)
        await ended_by_hangup(bench, terminal)
        expect((await status(bench))["state"] == "bluetoothOff", "the daemon has ended with the pages")
        await tell(bench, "stop")
        asked = (await bench.guest.read_file(f"{SERVICE}/asked")).decode().splitlines()
        expect(asked == ["--no-ask-password start blewedge"] * 2, f"the service manager was asked {asked}")
    finally:
        await bench.guest.run("rm", "-rf", "/run/systemd/system", UNIT, SERVICE)
    await fresh(bench)
    bench.note = "missing, refused, started"
