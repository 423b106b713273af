# SPDX-License-Identifier: GPL-2.0-or-later
"""A tmux terminal in which the program runs, and the daemon to which the program connects."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from daemon import Daemon
from words import shows

PATIENCE = 60


class Failure(Exception):
    pass


def drawn_in(rows, screen):
    lines = screen.split("\n")
    return len(lines) == rows and "F1" in lines[0]


class Bench:
    """One terminal and one daemon, with separate folders."""

    def __init__(self, program, locale, columns, rows, **environment):
        # Do not use TMPDIR: the screens show the line break in a path of this length.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="blewedge-terminal.", dir="/tmp"))
        # The server keeps running without sessions, so that a new session does not connect to a server that is exiting.
        (self.folder / "tmux.conf").write_text("set-option -s exit-empty off\n")
        self.tmux = ["tmux", "-u", "-f", str(self.folder / "tmux.conf"), "-S", str(self.folder / "tmux")]
        for name in ("state", "configuration", "runtime"):
            (self.folder / name).mkdir()
        self.daemon = Daemon(str(self.folder / "runtime" / "control"), self.type)
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.folder), "TZ": "UTC", "LANG": locale,
            "STATE_DIRECTORY": str(self.folder / "state"), "RUNTIME_DIRECTORY": str(self.folder / "runtime"),
            "CONFIGURATION_DIRECTORY": str(self.folder / "configuration"), **environment,
        }
        self.program = str(program)
        self.columns, self.rows = columns, rows

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.run("kill-server", check=False)
        shutil.rmtree(self.folder)

    def run(self, *words, check=True):
        return subprocess.run([*self.tmux, *words], check=check, capture_output=True, text=True).stdout

    def begin(self, *arguments):
        """Starts the program in a shell that prints its exit status and does not exit."""
        variables = " ".join(f"{name}='{value}'" for name, value in self.environment.items())
        command = f"exec env -i TERM=$TERM {variables} sh -c '\"$0\" \"$@\"; end=$?; stty -a; echo ended with $end; exec sleep 600' "
        command += " ".join(f"'{word}'" for word in [self.program, *arguments])
        self.run("new-session", "-d", "-x", str(self.columns), "-y", str(self.rows), command)

    def screen(self, *options):
        return self.run("capture-pane", "-p", *options).rstrip("\n")

    def wait(self, *texts, without=(), height=None):
        """Waits until the screen shows all texts, and returns it. `||` separates alternatives.

        With `height`, the pages must also be redrawn with this number of rows, with their names in the first one.
        """
        end = time.monotonic() + PATIENCE
        while True:
            screen = self.screen()
            if shows(screen, texts, without) and (height is None or drawn_in(height, screen)):
                return screen
            if time.monotonic() > end:
                raise Failure(f"not seen: {texts} without {without} in\n{screen}")
            time.sleep(0.05)

    def settled(self, *texts):
        """Waits until the screen shows all texts and does not change for a moment, and returns it."""
        last = None
        while (screen := self.wait(*texts)) != last:
            last = screen
            time.sleep(0.3)
        return screen

    def wait_request(self, request):
        end = time.monotonic() + PATIENCE
        while request not in self.daemon.requests:
            if time.monotonic() > end:
                raise Failure(f"not asked: {request} in {self.daemon.requests[-5:]}")
            time.sleep(0.05)
        self.daemon.requests.clear()

    def press(self, *keys):
        """Presses keys with pauses, like a person."""
        for key in keys:
            time.sleep(0.15)
            self.run("send-keys", key)

    def type(self, *texts, keys=()):
        """Types text without pauses, like the daemon's keyboard."""
        for text in texts:
            self.run("send-keys", "-l", text)
        if keys:
            self.run("send-keys", *keys)

    def pid(self):
        shell = self.run("display-message", "-p", "#{pane_pid}").strip()
        return int(subprocess.run(["pgrep", "-P", shell], check=True, capture_output=True, text=True).stdout.split()[0])

    def changing(self):
        return [request for request in self.daemon.requests if request.split()[0] not in ("status", "events", "scan")]
