# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the pages with a daemon that they start: the product's own daemon, without a radio or a keyboard."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time

from terminal import PATIENCE, Bench, Failure

# The pages assume that characters in quick succession come from a scanner (MachineInputFilter). A person types more slowly.
HESITATION = 0.4
# Text on the pages of such a daemon.
STATE = "Bluetooth is off"


def configure(bench: Bench, more: str = "") -> None:
    """Configures a daemon that needs no privileges: its controller does not exist, and its output is a socket."""
    text = f'adapter = "h4:unix:{bench.folder}/none"\nto = "unix:{bench.folder}/wire"\n{more}'
    (bench.folder / "configuration" / "blewedge.toml").write_text(text)


def command(bench: Bench, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [bench.program, *words], env=bench.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE
    )


def starts(bench: Bench) -> None:
    bench.begin("tui")
    bench.wait("No daemon is running.", "Press Enter to start one")
    bench.press("Enter")
    bench.wait(STATE)


class Process:
    """A process that should end. It is identified by a pidfd, so another process with the same id cannot be mistaken for it."""

    def __init__(self, pid: int, what: str) -> None:
        self.what = what
        try:
            self.descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            raise Failure(f"{what} has ended already") from None

    def until_gone(self) -> None:
        try:
            if not select.select([self.descriptor], [], [], PATIENCE)[0]:
                raise Failure(f"{self.what} lives on")
        finally:
            os.close(self.descriptor)


def runs(bench: Bench, after: str) -> None:
    """Checks that the daemon answers a command."""
    status = command(bench, "status", "--json")
    if status.returncode != 0 or json.loads(status.stdout)["state"] != "bluetoothOff":
        raise Failure(f"after {after}, status {status.returncode}: {status.stdout}{status.stderr}")


def goes_on(bench: Bench) -> None:
    """Checks that the daemon continues after its pages have ended, and stops on request."""
    configure(bench)
    try:
        for end in ("F10", "SIGTERM", "a closed terminal"):
            outlives(bench, end)
    finally:
        command(bench, "stop")


def outlives(bench: Bench, end: str) -> None:
    starts(bench)
    pages = Process(bench.pid(), "the program")
    if end == "F10":
        bench.press("F10")
        bench.wait("ended with 0")
    elif end == "SIGTERM":
        signal.pidfd_send_signal(pages.descriptor, signal.SIGTERM)
        bench.wait("ended with 143")
    bench.run("kill-session")
    pages.until_gone()
    runs(bench, end)
    # The next pages find the daemon, and do not offer to start one.
    bench.begin("tui")
    bench.wait(STATE, without=["Press Enter to start one"])
    bench.run("kill-session")
    runs(bench, "the next pages")
    daemon = Process(json.loads(command(bench, "status", "--json").stdout)["pid"], "the daemon")
    if (stop := command(bench, "stop")).returncode != 0:
        raise Failure(f"stop: {stop.returncode}, {stop.stderr}")
    daemon.until_gone()
    if (status := command(bench, "status")).returncode != 69:
        raise Failure(f"after `stop`, status {status.returncode}")


def cannot(bench: Bench) -> None:
    """Checks that the daemon's error is shown if it cannot start because another file is in the place of its socket."""
    configure(bench)
    (bench.folder / "runtime" / "control").write_text("")
    bench.begin("tui")
    bench.wait("No daemon is running.", "Press Enter to start one")
    bench.press("Enter")
    bench.wait("The daemon exited with status 69", "blewedge: a daemon is already listening at", without=[STATE])


def hidden(bench: Bench) -> None:
    """Checks that a setting hides the state on every page, also after a restart of the pages, and shows it again."""
    bench.daemon.start()
    bench.daemon.chosen = {"address": "F0:F1:F2:F3:F4:F5", "addressType": "random", "name": "LINBLE-TEST"}
    bench.daemon.state = "connected"
    state = "connected to LINBLE-TEST"
    configuration = bench.folder / "configuration" / "blewedge.toml"
    for setting, is_shown in (("", True), ("status-line = false\n", False), ('status-line = "on"\n', True)):
        configuration.write_text(setting)
        bench.begin("tui")
        bench.wait("LT01 BC000120")
        for key, text in (("F3", "The arrows select a key"), ("F4", "snippets.json"), ("F5", "Language"), ("F1", "LT01 BC000120")):
            bench.press(key)
            bench.wait(text, *([state] if is_shown else []), without=[] if is_shown else [state])
        bench.press("F10")
        bench.wait("ended with 0")
        bench.run("kill-session")


def digits(bench: Bench) -> None:
    """Checks that every digit is on the keypad and can be pressed."""
    bench.daemon.start()
    bench.begin("tui")
    bench.wait("LT01 BC000120")
    bench.press("F3")
    bench.wait("The arrows select a key")
    # The cursor starts on the 1 and moves in alternating directions.
    for move, digit in zip(
        ["", "Right", "Right", "Down", "Left", "Left", "Down", "Right", "Right", "Down Left"], "1236547890", strict=True
    ):
        bench.press(*move.split(), "Enter")
        bench.wait_request(f"key {digit}")
        bench.wait(f"Pressed: {digit}")
        time.sleep(HESITATION)
