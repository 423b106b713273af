# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the question that `blewedge use` asks before it replaces the selected device: each answer, and none (LK-8)."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import time
from collections.abc import Sequence

from terminal import PATIENCE, Bench, Failure

OLD, NEW = "F0:F1:F2:F3:F4:F5", "00:1D:12:00:01:20"
USE = ("use", NEW, "--address-type", "public", "--security", "none")
ASKED = {"C.UTF-8": "[y/N]", "ja_JP.UTF-8": "切り替えますか?"}
# Answer, exit status, and whether the device is replaced. Ctrl-D ends the input.
ANSWERS = [
    ("y\n", 0, True), ("yes\n", 0, True), ("Yes\n", 0, True), ("n\n", 64, False), ("no\n", 64, False), ("\n", 64, False),
    ("perhaps\n", 64, False), ("yy\n", 64, False), (" y\n", 64, False), ("4902778020141\n", 64, False), ("\x04", 64, False),
]  # fmt: skip


def on_terminal(bench: Bench, arguments: Sequence[str], answer: str | None, locale: str = "C.UTF-8") -> tuple[int, str]:
    """Runs the program on a terminal and answers its question, or closes the terminal if there is no answer.

    Returns the exit status (the negative signal number if a signal ended the program) and the text on the terminal.
    """
    child, terminal = pty.fork()
    if child == 0:
        os.execve(bench.program, [bench.program, *arguments], {**bench.environment, "LANG": locale, "TERM": "xterm"})
    seen = b""
    is_answered = False
    end = time.monotonic() + PATIENCE
    while True:
        if not select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
            raise Failure(f"the program neither asks nor ends: {seen.decode()!r}")
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # the program has closed the terminal
            piece = b""
        if not piece:
            break
        seen += piece
        if ASKED[locale].encode() in seen and not is_answered:
            is_answered = True
            if answer is None:
                break
            os.write(terminal, answer.encode())
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    if ASKED[locale].encode() not in seen:
        raise Failure(f"nothing was asked: {seen.decode()!r}")
    return os.waitstatus_to_exitcode(status), seen.decode()


def kept(bench: Bench) -> str:
    """Returns the saved address."""
    text = (bench.folder / "state" / "selection").read_text()
    return json.loads(text)["address"]


def choose_old(bench: Bench) -> str:
    command = [bench.program, "use", OLD, "--address-type", "random", "--yes", "--security", "none"]
    subprocess.run(command, env=bench.environment, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    if kept(bench) != OLD:
        raise Failure(f"kept is {kept(bench)}")
    return (bench.folder / "state" / "selection").read_text()


def alone(bench: Bench) -> None:
    """Tests every answer without a daemon, checking the exit status and the saved device."""
    for answer, status, is_switched in ANSWERS:
        old = choose_old(bench)
        got, seen = on_terminal(bench, USE, answer)
        if got != status:
            raise Failure(f"answered {answer!r}, status {got} instead of {status}: {seen!r}")
        if kept(bench) != (NEW if is_switched else OLD):
            raise Failure(f"answered {answer!r}, kept is {kept(bench)}")
        if not is_switched and (bench.folder / "state" / "selection").read_text() != old:
            raise Failure(f"answered {answer!r}, the file is another one")
    choose_old(bench)
    if on_terminal(bench, USE, "y\n", "ja_JP.UTF-8")[0] != 0 or kept(bench) != NEW:
        raise Failure("asked in Japanese, yes is no yes")


def nobody(bench: Bench) -> None:
    """Tests that nothing changes if nobody can answer: no terminal, output not on a terminal, or a terminal that is closed."""
    old = choose_old(bench)
    for stdin in (subprocess.DEVNULL, subprocess.PIPE):
        program = subprocess.Popen(
            [bench.program, *USE], env=bench.environment, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        _, said = program.communicate("y\n" if stdin == subprocess.PIPE else None, timeout=PATIENCE)
        if program.returncode != 64 or "--yes" not in said or "[y/N]" in said:
            raise Failure(f"without a terminal, status {program.returncode}: {said!r}")
    got, _ = on_terminal(bench, USE, None)
    if got == 0:
        raise Failure("a closed terminal is taken for a yes")
    if (bench.folder / "state" / "selection").read_text() != old:
        raise Failure("nobody has answered, and the choice is another one")
    # Programs that read JSON are not asked either. Selecting the same device needs no confirmation, and --yes replaces the
    # answer.
    for more, status in ((["--json"], 64), (["--yes"], 0)):
        program = subprocess.run([bench.program, *USE, *more], env=bench.environment, capture_output=True, stdin=subprocess.DEVNULL)
        if program.returncode != status:
            raise Failure(f"with {more}, status {program.returncode}: {program.stderr!r}")
    if kept(bench) != NEW:
        raise Failure("--yes has not switched")


def through_daemon(bench: Bench) -> None:
    """Tests the requests to the daemon for each answer."""
    bench.daemon.start()
    for answer, status, is_switched in ANSWERS:
        bench.daemon.chosen = {"address": OLD, "addressType": "random", "name": "LINBLE-TEST"}
        bench.daemon.requests.clear()
        got, seen = on_terminal(bench, ("use", NEW, "--security", "none"), answer)
        wanted = [f"use {NEW} security none", *([f"use {NEW} yes security none"] if is_switched else [])]
        if got != status or bench.changing() != wanted:
            raise Failure(f"answered {answer!r}, status {got} instead of {status}, asked {bench.changing()}: {seen!r}")


def open_device(bench: Bench) -> None:
    """Tests that an unpaired device is used only after a yes, with and without a daemon, and that --security replaces the
    question (X-8)."""
    file = bench.folder / "state" / "selection"
    for answer, status, is_yes in ANSWERS:
        file.unlink(missing_ok=True)
        got, seen = on_terminal(bench, ("use", NEW, "--address-type", "public"), answer)
        if got != status or file.exists() != is_yes or "anyone who copies its name and address can type" not in seen:
            raise Failure(f"answered {answer!r}, status {got} instead of {status}, kept {file.exists()}: {seen!r}")
        if is_yes and json.loads(file.read_text())["security"] != "none":
            raise Failure(f"kept is {file.read_text()!r}")
    bench.daemon.start()
    for answer, status, is_yes in ANSWERS:
        bench.daemon.chosen = None
        bench.daemon.requests.clear()
        got, seen = on_terminal(bench, ("use", NEW), answer)
        wanted = [f"use {NEW}", *([f"use {NEW} security none"] if is_yes else [])]
        if got != status or bench.changing() != wanted:
            raise Failure(f"answered {answer!r}, status {got} instead of {status}, asked {bench.changing()}: {seen!r}")


def keyboard(bench: Bench) -> None:
    """Tests that `use` of an unpaired keyboard pairs after a yes and then selects it, and that it is not used otherwise (X-8)."""
    file = bench.folder / "state" / "selection"
    arguments = ("use", "HID Scanner", "--adapter", "memory:hid")
    for answer, _, is_yes in ANSWERS:
        got, seen = on_terminal(bench, arguments, answer)
        if got != (0 if is_yes else 64) or file.exists() != is_yes or "Pair with it now?" not in seen or "--security none" in seen:
            raise Failure(f"answered {answer!r}, status {got}, kept {file.exists()}: {seen!r}")
        if is_yes:
            if json.loads(file.read_text())["security"] != "encrypted" or "paired with C0:FF:EE:01:00:04" not in seen:
                raise Failure(f"kept is {file.read_text()!r}: {seen!r}")
            forget = [bench.program, "forget", "C0:FF:EE:01:00:04", "--adapter", "memory:hid"]
            subprocess.run(forget, env=bench.environment, check=True, capture_output=True, stdin=subprocess.DEVNULL)
            file.unlink()
    for more in ([], ["--security", "none"], ["--json"]):
        program = subprocess.run(
            [bench.program, *arguments, *more], env=bench.environment, capture_output=True, stdin=subprocess.DEVNULL, text=True
        )
        remedy = program.stderr.partition("fix:")[2]
        if program.returncode != 78 or "`blewedge pair C0:FF:EE:01:00:04`" not in remedy or "none" in remedy:
            raise Failure(f"without a terminal and {more}, status {program.returncode}: {program.stderr!r}")


def run_open(bench: Bench) -> None:
    """Tests that `run` uses an unpaired device only after a yes. It then opens its adapter, which does not exist (69)."""
    arguments = ("run", "--device", NEW, "--to", "stdout", "--adapter", f"h4:unix:{bench.folder}/no-line")
    for answer, _, is_yes in ANSWERS:
        got, seen = on_terminal(bench, arguments, answer)
        if got != (69 if is_yes else 64) or ("no-line" in seen) != is_yes:
            raise Failure(f"answered {answer!r}, status {got}: {seen!r}")
        if "anyone who copies its name and address can type" not in seen:
            raise Failure(f"the question does not say why: {seen!r}")
