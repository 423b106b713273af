# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the pages' keys, mouse and settings, and of the terminal after they end, with input as from a person."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unicodedata
from collections.abc import Callable, Iterable

from daemon import DEVICES
from starts import HESITATION
from terminal import PATIENCE, Bench, Failure
from words import given_back, shows

# A `q` ends the pages after 300 ms. If they are still running after this time in seconds, they will not end.
LONGER = 0.8
# Types a `q`, and a key 100 ms later. The server of tmux waits, because on a busy machine a second client can start too late.
Q_AND_LATER = ("send-keys", "-l", "q", ";", "run-shell", "-d", "0.1", ";", "send-keys")
DETAILS = "F0:F1:F2:F3:F4:F5 (random)"
# Key and some text of each page (80x24).
PAGES = [
    ("F1", "LT01 BC000120"), ("F2", "Last minute"), ("F3", "The arrows select a key"), ("F4", "snippets.json"),
    ("F5", "Language of these pages"), ("F6", "How to add the keyboard"), ("F11", "Regions:"),
]  # fmt: skip


def shown(bench: Bench, chosen: bool = False) -> None:
    """Shows the devices page with a daemon that answers."""
    bench.daemon.start()
    if chosen:
        bench.daemon.chosen = {key: DEVICES[0][key] for key in ("address", "addressType", "name")}
        bench.daemon.state = "connected"
    bench.begin("tui")
    bench.wait("* LINBLE-TEST" if chosen else "no device selected", "LT01 BC000120")
    time.sleep(HESITATION)


def typed(bench: Bench, text: str) -> None:
    """Types text all at once, and waits, because the pages would treat keys right after it as part of it."""
    bench.type(text)
    time.sleep(HESITATION)


def alive(bench: Bench) -> str:
    time.sleep(LONGER)
    screen = bench.screen()
    if "ended with" in screen:
        raise Failure(f"the program has ended:\n{screen}")
    return screen


def ends(bench: Bench, *keys: str) -> None:
    bench.press(*keys)
    bench.wait("ended with 0")
    bench.run("kill-session")


def not_asked(bench: Bench, *allowed: str) -> None:
    if asked := [request for request in bench.changing() if request not in allowed]:
        raise Failure(f"the daemon was asked {asked}")


# Keyboard


def help_shown(bench: Bench) -> None:
    shown(bench)
    for page, text in (PAGES[0], PAGES[4], PAGES[6]):
        for key in ("Left", "Escape", "Enter", "?"):
            bench.press(page)
            bench.wait(text)
            time.sleep(HESITATION)
            bench.press("?")
            bench.wait("Show a page", "Ctrl-C", "The mouse selects", without=[text])
            time.sleep(HESITATION)
            bench.press(key)
            bench.wait(text, without=["Show a page"])
    not_asked(bench, "beacons status")
    # A function key closes the help and shows its page.
    time.sleep(HESITATION)
    bench.press("?")
    bench.wait("Show a page")
    bench.press("F5")
    bench.wait(PAGES[4][1], without=["Show a page"])


def help_scrolls(bench: Bench) -> None:
    """Checks that keys that do not fit on a small screen can be scrolled to, with the wheel too."""
    bench.columns, bench.rows = 40, 12
    shown(bench)
    bench.press("?")
    bench.wait("The mouse selects", without=["Ctrl-C"])
    time.sleep(HESITATION)
    bench.press(*["NPage"] * 6)
    bench.wait("Ctrl-C", without=["The mouse selects"])
    bench.press(*["PPage"] * 6)
    bench.wait("The mouse selects", without=["Ctrl-C"])
    for _ in range(30):
        report(bench, 5, 5, button=65)
    bench.wait("Ctrl-C", without=["The mouse selects"])
    bench.press("Escape")
    bench.wait("LT01 BC000120", without=["Ctrl-C"])


def help_closed_by_a_letter(bench: Bench) -> None:
    shown(bench)
    bench.press("?")
    bench.wait("Show a page")
    time.sleep(HESITATION)
    bench.press("x")
    bench.wait("LT01 BC000120", without=["Show a page"])


def filtered(bench: Bench) -> None:
    shown(bench)
    bench.press("/")
    bench.wait("Devices /_")
    typed(bench, "bc0")
    bench.wait("Devices /bc0_", "LT01 BC000120", without=["LINBLE-TEST", "00:1D:12:00:01:22"])
    # Enter keeps the search text, and Esc clears it.
    bench.press("Enter")
    bench.wait("Devices /bc0", without=["/bc0_", "LINBLE-TEST"])
    bench.press("/")
    bench.wait("Devices /bc0_")
    time.sleep(HESITATION)
    bench.press("Escape")
    bench.wait("LINBLE-TEST", "00:1D:12:00:01:22", without=["/bc0"])
    # Search by address, by type, and without a match; keys for commands are text in the search.
    for text, name, others in [
        ("01:42", "バーコードリーダ", ["LINBLE-TEST", "LT01"]), ("keyboard", "バーコードリーダ", ["LINBLE-TEST", "LT01"]),
        ("qr?", "No other device matches", ["LINBLE-TEST", "LT01", "Show a page"]),
    ]:  # fmt: skip
        bench.press("/")
        bench.wait("Devices /_")
        typed(bench, text)
        bench.wait(f"/{text}_", name, without=others)
        bench.press("Escape")
        bench.wait("LINBLE-TEST", "LT01 BC000120", without=[f"/{text}"])
        time.sleep(HESITATION)
    not_asked(bench)


def quits(bench: Bench) -> None:
    for page, text in (PAGES[0], PAGES[4], PAGES[6]):
        if page == "F1":
            shown(bench)
        else:
            bench.begin("tui")
            bench.wait("LT01 BC000120")
            bench.press(page)
            bench.wait(text)
            time.sleep(HESITATION)
        ends(bench, "q")


def quits_not(bench: Bench) -> None:
    """Checks that q does not end the pages as the beginning of a barcode, even one received in parts or announced before."""
    shown(bench)
    for what, steps in [
        ("q123 at once", [lambda: bench.type("q123")]),
        ("q and Enter at once", [lambda: bench.type("q", keys=["Enter"])]),
        ("q, and F2 after 100 ms", [lambda: bench.run(*Q_AND_LATER, "F2"),
                                    lambda: bench.wait("Last minute"), lambda: bench.run("send-keys", "F1")]),
        ("q, and 1 after 100 ms", [lambda: bench.run(*Q_AND_LATER, "1")]),
        ("a lone q right behind received data", [lambda: bench.daemon.receive("q")]),
        ("a lone q right before received data", [lambda: bench.type("q"), lambda: bench.daemon.receive("")]),
        ("a lone q within a pasted text", [lambda: bench.run("set-buffer", "q"), lambda: bench.run("paste-buffer", "-p")]),
    ]:
        for step in steps:
            step()
        try:
            alive(bench)
        except Failure as failure:
            raise Failure(f"after {what}: {failure}") from None
    not_asked(bench)
    ends(bench, "q")


def q_is_text(bench: Bench) -> None:
    shown(bench, chosen=True)
    for page, text in (PAGES[1], PAGES[3], PAGES[5]):
        bench.press(page)
        bench.wait(text)
        time.sleep(HESITATION)
        typed(bench, "q")
        typed(bench, "?")
        typed(bench, "/")
        alive(bench)
    bench.press("F2")
    bench.wait("q?/q?/q?/")


def hexadecimal(bench: Bench) -> None:
    """Checks that the last bytes are requested from the daemon only while they are shown."""
    shown(bench, chosen=True)
    bench.press("F2")
    bench.wait("Last minute", without=["Last received bytes"])
    bench.daemon.receive("unseen\r")
    bench.wait("unseen")
    alive(bench)
    not_asked(bench)
    for key in ("F12", "M-x"):
        bench.press(key)
        bench.wait("Last received bytes")
        bench.wait_request("received")
        bench.daemon.receive("4902\r")
        bench.wait("343930320D||34 39 30 32 0D")
        bench.press(key)
        bench.wait("Last minute", without=["Last received bytes"])
        bench.daemon.requests.clear()
        alive(bench)
        alive(bench)
        not_asked(bench)
    # When the bytes are shown again, they are not requested on another page.
    bench.press("F12")
    bench.wait_request("received")
    bench.press("F3")
    bench.wait("The arrows select a key")
    time.sleep(HESITATION)
    bench.daemon.requests.clear()
    alive(bench)
    alive(bench)
    not_asked(bench)
    # F12 does nothing on that page.
    bench.press("F12", "F2")
    bench.wait("Last received bytes")


# Mouse


def place(screen: str, text: str) -> tuple[int, int]:
    """Returns the row and column of a text's first cell, counted from 1."""
    for row, line in enumerate(screen.splitlines(), 1):
        before, found, _ = line.partition(text)
        if found:
            return row, 1 + sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in before)
    raise Failure(f"no {text!r} to be clicked in\n{screen}")


def report(bench: Bench, row: int, column: int, button: int = 0) -> None:
    """Sends the sequence of a terminal for pressing and releasing a button (xterm, SGR 1006)."""
    time.sleep(0.15)
    bench.run("send-keys", "-l", f"\x1b[<{button};{column};{row}M\x1b[<{button};{column};{row}m")


def click(bench: Bench, text: str) -> None:
    report(bench, *place(bench.wait(text), text))


def clicked(bench: Bench) -> None:
    shown(bench)
    if bench.run("display-message", "-p", "#{mouse_standard_flag} #{mouse_sgr_flag}").strip() != "1 1":
        raise Failure("the pages do not ask for the mouse")
    for title, text in [("F2 Check", "Last minute"), ("F5 Settings", "Language of"), ("F11 Beacons", "Regions:"), ("F1 Devices", "LT01")]:
        click(bench, title)
        bench.wait(text)
    # The first click on a row selects it, and the second one activates it.
    click(bench, "LT01 BC000120")
    bench.wait("00:1D:12:00:01:20 (public)")
    not_asked(bench, "beacons status")
    click(bench, "LT01 BC000120")
    bench.wait_request("use 00:1D:12:00:01:20 yes")
    bench.wait("LT01 BC000120 is not paired")
    click(bench, "[ Cancel ]")
    bench.wait("LINBLE-TEST", without=["is not paired"])
    not_asked(bench)
    click(bench, "LT01 BC000120")
    bench.wait("LT01 BC000120 is not paired")
    click(bench, "[ OK ]")
    bench.wait_request("use 00:1D:12:00:01:20 yes security none")
    bench.wait("* LT01 BC000120")
    # Click a key in the footer after the message has disappeared.
    bench.press("Down")
    click(bench, "F9 Pause")
    bench.wait_request("pause")
    # The wheel moves the cursor. Clicks on empty space, with another button or outside the screen do nothing.
    bench.press("Home")
    bench.daemon.requests.clear()
    report(bench, 5, 5, button=65)
    bench.wait("F0:F1:F2:F3:F4:F5 (random)")
    before = bench.settled(DETAILS, "F9 Resume")
    for row, column, button in [(3, 1, 0), (5, 5, 1), (5, 5, 2), (5, 900, 0), (900, 5, 0), (0, 0, 0)]:
        report(bench, row, column, button)
    time.sleep(HESITATION)
    if (after := bench.screen()) != before:
        raise Failure(f"a click has changed the screen:\n{after}")
    not_asked(bench)
    # Click a row of the settings.
    click(bench, "F5 Settings")
    click(bench, "Reload the configuration")
    time.sleep(HESITATION)
    not_asked(bench)
    click(bench, "Reload the configuration")
    bench.wait_request("reload")
    bench.wait("Configuration reloaded.")



SETTINGS_TEXT = """\
# Mine.
layout = "us"   # as on the till
status-line = true

[scan-mode]
# Before and after each.
on = true
min-length = 3
prefix = "A"

[scan]
# Quickly.
refresh = "500ms"
"""


def on_row(bench: Bench, label: str) -> None:
    """Opens the settings page and moves the cursor to a row. The list contains the rows in order."""
    rows = ["Show the connection state", "Language of", "Profile", "Layout", "Prefix of", "Suffix of", "Pace", "Reload"]
    bench.press("F5", *["PageUp"], *["Down"] * rows.index(label))
    time.sleep(HESITATION)


def value(bench: Bench, label: str) -> str:
    line = next((line for line in bench.screen().splitlines() if label in line), "")
    found = re.search(r"[<\[] ?(.*?) ?[>\]] *│", line)
    return found.group(1) if found else ""


def edited(bench: Bench) -> None:
    """Edits and saves each setting, and checks that the other lines do not change and that the daemon reloads the file."""
    file = configuration(bench, SETTINGS_TEXT)
    shown(bench, chosen=True)
    lines = SETTINGS_TEXT.splitlines()
    for label, keys, text, line in [
        ("Profile", ["Down"], "", r'profile = "linble"'),
        ("Layout", [], "\x7f\x7fde", r'layout = "de"'),
        ("Prefix of", [], "\x7f{tab}", r'prefix = "{tab}"'),
        ("Suffix of", [], "#", r'suffix = "#"'),
        ("Pace", ["Down"], "", r'pace = "\w+"'),
    ]:
        bench.daemon.requests.clear()
        before = file.read_text()
        on_row(bench, label)
        bench.press("Enter")
        bench.wait("Enter saves")
        # Nothing is saved before Enter.
        bench.press(*keys)
        typed(bench, text)
        if file.read_text() != before:
            raise Failure(f"{label} is saved before Enter")
        bench.press("Enter")
        bench.wait("Saved in", without=["Enter saves"])
        bench.wait_request("reload")
        after = file.read_text()
        name = line.split()[0]
        if not any(re.fullmatch(line, other.partition("   #")[0]) for other in after.splitlines()):
            raise Failure(f"{label}: no line {line} in\n{after}")
        kept = [other for other in after.splitlines() if not other.startswith(f"{name} =")]
        if kept != [other for other in before.splitlines() if not other.startswith(f"{name} =")]:
            raise Failure(f"{label} has changed other lines:\n{before}--\n{after}")
    # Remove a value.
    on_row(bench, "Suffix of")
    bench.press("Enter")
    bench.wait("Enter saves")
    typed(bench, "\x7f")
    bench.press("Enter")
    bench.wait("Saved in")
    if "suffix" in file.read_text():
        raise Failure(f"an empty suffix stays:\n{file.read_text()}")
    if not all(line in file.read_text() for line in lines if line.startswith("#")):
        raise Failure(f"comments have gone:\n{file.read_text()}")


def first_saved(bench: Bench) -> None:
    """Checks that saving a prefix creates a missing file and turns barcode framing on in it."""
    file = bench.folder / "configuration" / "blewedge.toml"
    shown(bench, chosen=True)
    on_row(bench, "Prefix of")
    bench.press("Enter")
    bench.wait("Enter saves")
    typed(bench, "A-")
    bench.press("Enter")
    bench.wait("Saved in")
    bench.wait_request("reload")
    if sorted(file.read_text().splitlines()) != sorted(["[scan-mode]", 'prefix = "A-"', "on = true"]):
        raise Failure(f"the file is\n{file.read_text()}")


def comment_kept(bench: Bench) -> None:
    """Checks that the comment after an edited value is kept."""
    file = configuration(bench, SETTINGS_TEXT)
    shown(bench, chosen=True)
    on_row(bench, "Layout")
    bench.press("Enter")
    bench.wait("Enter saves")
    typed(bench, "\x7f\x7fde")
    bench.press("Enter")
    bench.wait("Saved in")
    if "# as on the till" not in file.read_text():
        raise Failure(f"the comment behind the value has gone:\n{file.read_text()}")


def refused(bench: Bench) -> None:
    """Checks that an invalid value is rejected with the cause, that Esc changes nothing, and that the file is unchanged."""
    file = configuration(bench, SETTINGS_TEXT)
    shown(bench, chosen=True)
    for label, text, cause in [
        ("Profile", "x", "autox"), ("Layout", "x", "usx"), ("Prefix of", "{nokey}", "nokey"), ("Suffix of", "{nokey}", "nokey"),
        ("Pace", "x", "x"),
    ]:  # fmt: skip
        for end, said in (("Enter", ["Not saved", cause]), ("Escape", [])):
            on_row(bench, label)
            before = value(bench, label)
            bench.press("Enter")
            bench.wait("Enter saves")
            typed(bench, text)
            bench.press(end)
            bench.wait(*said, without=["Saved in", "Enter saves"])
            if file.read_text() != SETTINGS_TEXT:
                raise Failure(f"{label}, {end}: the file is another one:\n{file.read_text()}")
            if value(bench, label) != before:
                raise Failure(f"{label}, {end}: shown is {value(bench, label)!r} instead of {before!r}")
            not_asked(bench)


def faults_shown(bench: Bench) -> None:
    """Checks that several errors in a file are shown as one text without unreadable characters."""
    text = SETTINGS_TEXT + 'nothing = 1\n[neither]\nnor = 2\n'
    file = configuration(bench, text)
    shown(bench, chosen=True)
    on_row(bench, "Layout")
    bench.press("Enter")
    bench.wait("Enter saves")
    typed(bench, "\x7f\x7fde")
    bench.press("Enter")
    screen = bench.settled("Not saved", "nothing", "neither")
    if "\ufffd" in screen or file.read_text() != text:
        raise Failure(f"the faults are not to be read, or the file is another one:\n{screen}")


def configuration(bench: Bench, text: str) -> pathlib.Path:
    file = bench.folder / "configuration" / "blewedge.toml"
    file.write_text(text)
    return file


# Restoring the terminal


def in_shell(bench: Bench) -> None:
    """Starts a shell with job control on a terminal, in which the program will run as a job."""
    variables = [f"{name}={value}" for name, value in bench.environment.items()]
    words = ["env", "-i", "TERM=screen", *variables, f"PROGRAM={bench.program}", "PS1=$ ", "sh", "-i"]
    command = "exec " + " ".join(f"'{word}'" for word in words)
    bench.run("new-session", "-d", "-x", str(bench.columns), "-y", str(bench.rows), command)
    bench.wait("$")


def line(bench: Bench, text: str, end: str = "Enter") -> None:
    bench.run("send-keys", "-l", text)
    bench.run("send-keys", end)


def sane(bench: Bench, end: str = "Enter") -> None:
    """Checks that the terminal is restored for a shell: main screen, visible cursor, no mouse reports, line mode."""
    flags = bench.run("display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}").strip()
    if flags != "0 1 0":
        raise Failure(f"alternate screen, cursor and mouse are {flags} instead of 0 1 0")
    line(bench, "clear; stty -a; echo do''ne", end)
    screen = bench.wait("done")
    if fault := given_back(screen):
        raise Failure(f"{fault}:\n{screen}")


def until_state(pid: int, states: Iterable[str]) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state in states:
            return
        if time.monotonic() > end:
            raise Failure(f"the program is in state {state}, not in {states}")
        time.sleep(0.05)


def suspended(bench: Bench) -> None:
    bench.daemon.start()
    in_shell(bench)
    for page, text in PAGES[:3]:
        line(bench, "$PROGRAM tui")
        bench.wait("LT01 BC000120", "F10 Quit")
        bench.press(page)
        bench.wait(text)
        pid = bench.pid()
        bench.press("C-z")
        until_state(pid, "T")
        sane(bench)
        line(bench, "fg")
        bench.wait(text, "F10 Quit")
        until_state(pid, "SR")
        if bench.run("display-message", "-p", "#{alternate_on} #{mouse_any_flag}").strip() != "1 1":
            raise Failure("the pages have come back without the other screen or without the mouse")
        bench.press("F10")
        bench.wait("$", without=["F10 Quit"])
        sane(bench)


def suspended_alone(bench: Bench) -> None:
    """Checks that the pages stay if no shell could resume them (an orphaned process group), because the kernel then does not stop
    them."""
    shown(bench)
    bench.press("C-z")
    alive(bench)
    bench.press("F2")
    bench.wait("Last minute", "F10 Quit")
    if bench.run("display-message", "-p", "#{alternate_on}").strip() != "1":
        raise Failure("the pages have left the other screen")
    ends(bench, "F10")


def killed(bench: Bench) -> None:
    """Checks that the pages restore a terminal left behind by pages that were killed."""
    bench.daemon.start()
    in_shell(bench)
    line(bench, "$PROGRAM tui")
    bench.wait("LT01 BC000120", "F10 Quit")
    os.kill(bench.pid(), signal.SIGKILL)
    time.sleep(HESITATION)
    if bench.run("display-message", "-p", "#{alternate_on}").strip() != "1":
        raise Failure("nothing is to be put right")
    # The terminal is in raw mode, so Ctrl-J ends the line.
    line(bench, "$PROGRAM tui", end="C-j")
    bench.wait("LT01 BC000120", "F10 Quit")
    bench.press("F10")
    bench.wait("$", without=["F10 Quit"])
    sane(bench)


# Characters, colors and sizes


def glyphs(frame: str, bars: Iterable[str], others: str) -> Callable[[Bench], None]:
    """Returns a check that the pages use these characters and none of the others."""

    def check(bench: Bench) -> None:
        bench.daemon.start()
        bench.begin("tui", "--language", "en")
        screen = bench.settled("LT01 BC000120")
        missing = [text for text in (frame, *bars) if text not in screen]
        if missing or any(letter in screen for letter in others):
            raise Failure(f"missing {missing}, or there are some of {others!r} in\n{screen}")
        bench.press("F2")
        bench.wait("Last minute")
        bench.daemon.receive("4902778020141\r")
        end = time.monotonic() + PATIENCE
        while not re.search(rf"received +14 +{re.escape(bars[0][-1])}", screen := bench.screen()):
            if time.monotonic() > end:
                raise Failure(f"no column in the graph of\n{screen}")
            time.sleep(0.1)
        if any(letter in screen for letter in others):
            raise Failure(f"there are some of {others!r} in\n{screen}")

    return check


def no_colours(bench: Bench) -> None:
    shown(bench, chosen=True)
    bench.daemon.receive("4902\r")
    for page, text in PAGES:
        bench.press(page)
        bench.wait(text)
        if re.search(r"\x1b\[[0-9;]*[349][0-8][;m]", bench.screen("-e")):
            raise Failure(f"{page}: there are colours in spite of NO_COLOR")
    bench.press("F8")
    bench.wait("disconnected from LINBLE-TEST")
    if re.search(r"\x1b\[[0-9;]*[349][0-8][;m]", bench.screen("-e")):
        raise Failure("there are colours in spite of NO_COLOR")


def coloured(bench: Bench) -> None:
    shown(bench, chosen=True)
    if not re.search(r"\x1b\[[0-9;]*32m", bench.screen("-e")):
        raise Failure("a connected device has no colour")


def tiny(bench: Bench) -> None:
    """Checks that on a 10x3 screen every page shows its name, some of its content, and how to quit."""
    shown(bench, chosen=True)
    bench.run("resize-window", "-x", "10", "-y", "3")
    faults = []
    for page, text in [
        ("F1", "LIN"), ("F2", "connected"), ("F3", "1"), ("F4", "No"), ("F5", "Show"), ("F6", "[->]"), ("F11", "Regions"),
    ]:  # fmt: skip
        bench.press(page)
        time.sleep(HESITATION)
        screen = bench.screen()
        if page not in screen.splitlines()[0] or not shows(screen, [text, "F10 Quit"]):
            faults.append(f"{page} shows no {page}, {text!r} and F10:\n{screen}")
    # Select a device and answer both questions.
    bench.press("F1", "Down", "Enter")
    for request in ("use 00:1D:12:00:01:20 yes", "use 00:1D:12:00:01:20 yes security none"):
        bench.wait("Cancel")
        bench.press("Right")
        time.sleep(HESITATION)
        if "OK" not in (screen := bench.screen()):
            faults.append(f"the answer that Enter gives is not to be seen:\n{screen}")
        bench.press("Enter")
        bench.wait_request(request)
    bench.run("resize-window", "-x", "80", "-y", "24")
    bench.wait("* LT01 BC000120")
    if faults:
        raise Failure("\n".join(faults))




def bars(bench: Bench) -> None:
    """Checks that `scan` and `status --watch` draw signal bars on a terminal."""
    bench.daemon.start()
    bench.daemon.chosen = {key: DEVICES[0][key] for key in ("address", "addressType", "name")}
    bench.daemon.state = "connected"
    bench.begin("scan", "--once")
    bench.wait("-51 ▂▄▆█", "LT01 BC000120", "ended with 0")
    bench.run("kill-session")
    bench.begin("status", "--watch")
    bench.wait("▂▄▆█ ", "connected to LINBLE-TEST")
    output = subprocess.run([bench.program, "scan", "--once", "--json"], env=bench.environment, capture_output=True, text=True)
    if output.returncode != 0 or "▂" in output.stdout or not json.loads(output.stdout.splitlines()[0]):
        raise Failure(f"as JSON, status {output.returncode}: {output.stdout}{output.stderr}")


CHECKS = [
    ("? shows the keys, and a key that does not scroll closes them", help_shown, {}),
    ("the keys scroll on 40x12", help_scrolls, {}),
    ("a letter closes the keys too", help_closed_by_a_letter, {}),
    ("/ filters the devices, and Esc clears the filter", filtered, {}),
    ("q ends the pages", quits, {}),
    ("a barcode that begins with q does not end the pages", quits_not, {}),
    ("q is text where there is a field", q_is_text, {}),
    ("Ctrl-Z stops the pages, and fg brings them back", suspended, {}),
    ("Ctrl-Z without a shell leaves the pages as they are", suspended_alone, {}),
    ("the mouse opens pages, selects rows and answers questions", clicked, {}),
    ("F12 shows the last bytes, which are asked for only then", hexadecimal, {}),
    ("each setting is edited and saved", edited, {}),
    ("a setting is saved where there is no file", first_saved, {}),
    ("the comment behind an edited setting stays", comment_kept, {}),
    ("a wrong setting is refused, and Esc changes nothing", refused, {}),
    ("several faults of the configuration can be read", faults_shown, {}),
    ("pages that were killed: the next ones give the terminal back", killed, {}),
    ("the glyphs of a terminal with UTF-8", glyphs("┌─ Devices ─", ["▂▄▆█"], "░#"), {}),
    ("the glyphs of a Linux console", glyphs("┌─ Devices ─", ["████", "░░░░"], "▁▂▃▅▆▇#"), {"TERM": "linux"}),
    ("the glyphs without UTF-8", glyphs("+- Devices -", ["####", "...."], "┌─│▂░█"), {"LANG": "C"}),
    ("no colours on any page with NO_COLOR", no_colours, {"NO_COLOR": "1"}),
    ("colours without NO_COLOR", coloured, {}),
    ("every page on 10x3", tiny, {}),
    ("`scan` and `status --watch` draw bars", bars, {}),
]
