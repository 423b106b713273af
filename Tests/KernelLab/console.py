# SPDX-License-Identifier: GPL-2.0-or-later
#
# A user at a virtual terminal of the guest: the text on the screen (screen.c), and the keys of a virtual keyboard (keys.c).

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

from bench import Bench
from guest import Program
from readers import FIFO, TERMINAL
from waiting import LabError, expect

sys.path.append(str(Path(__file__).resolve().parents[1] / "Terminal"))
from words import given_back, shows  # noqa: E402

KEYS = {
    "Escape": 1, "1": 2, "2": 3, "3": 4, "Enter": 28, "x": 45, "F1": 59, "F2": 60, "F3": 61, "F4": 62, "F5": 63, "F6": 64,
    "F7": 65, "F8": 66, "F9": 67, "F10": 68, "Up": 103, "Left": 105, "Right": 106, "Down": 108,
}  # fmt: skip
# The pages assume that characters in quick succession come from a scanner (MachineInputFilter). A person types more slowly.
HESITATION = 0.4
# Runs the program with a Japanese locale, then prints the terminal settings and echoes the typed text. The screen is cleared
# first, because newer kernels restore the text that was on it before the pages.
ON_CONSOLE = (
    "stty sane; printf '\\033[H\\033[2J'; unset LC_ALL LC_MESSAGES; export TERM=linux LANG=ja_JP.UTF-8; "
    '"$0" "$@"; end=$?; stty -a; echo "ended with $end by $$"; exec cat >/dev/null'
)


class Hands:
    """Presses the keys of a keyboard one at a time."""

    def __init__(self, program: Program) -> None:
        self._program = program

    @classmethod
    async def open(cls, bench: Bench) -> Hands:
        program, _ = await bench.keys()
        return cls(program)

    async def press(self, *names: str) -> None:
        for name in names:
            await asyncio.sleep(HESITATION)
            answers = len(self._program.objects)
            await self._program.write(f"press {KEYS[name]}\n".encode())
            await self._program.until(lambda: len(self._program.objects) > answers, f"{name} is pressed", 10)


class Console:
    """A program on the active virtual terminal, and the text that it shows."""

    def __init__(self, bench: Bench, screen: Program) -> None:
        self._bench = bench
        self._screen = screen

    @classmethod
    async def open(cls, bench: Bench, *argv: str) -> Console:
        # The kernel starts to store the characters of a screen when a program first reads them, so read them before the program
        # writes any.
        await bench.guest.run("chvt", TERMINAL)
        console = cls(bench, await bench.start("screen", TERMINAL))
        await console._screen.until(lambda: console._screen.objects, "the screen is read", 20)
        await bench.guest.run("openvt", "-c", TERMINAL, "-f", "-s", "--", "sh", "-c", ON_CONSOLE, *argv)
        return console

    @property
    def lines(self) -> list[str]:
        """Returns the lines of the screen, without the frames of the pages."""
        return [re.sub(r"^│ ?(.*?)\s*│$", r"\1", line) for line in self._screen.objects[-1]["lines"]]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    async def until(self, *texts: str, without: tuple[str, ...] = (), seconds: float = 30) -> str:
        """Waits until the screen shows all of `texts` and none of `without`, and returns it."""
        try:
            await self._screen.until(lambda: shows(self.text, texts, without), f"{texts} without {without}", seconds)
        except LabError as error:
            raise LabError(f"{error}; the screen:\n{self.text}") from None
        return self.text

    async def until_line(self, line: str, seconds: float = 30) -> None:
        """Waits for a line with exactly this text."""
        try:
            await self._screen.until(lambda: line in self.lines, f"the line {line!r}", seconds)
        except LabError as error:
            raise LabError(f"{error}; the screen:\n{self.text}") from None

    async def shows_cursor(self) -> bool:
        return bool((await self._bench.guest.run("screen", TERMINAL, "cursor")).out.strip() == '{"cursor":true}')

    async def ended(self, hands: Hands, status: int) -> None:
        """Checks that the program ended with this status and restored the terminal: its settings, the cursor, and the echo of
        typed characters."""
        text = await self.until("ended with")
        end = re.search(r"ended with (\d+) by (\d+)", text)
        expect(end and int(end.group(1)) == status, f"ended otherwise than with {status}:\n{text}")
        assert end is not None
        fault = given_back(text)
        expect(not fault, f"{fault}:\n{text}")
        expect(await self.shows_cursor(), "the cursor is left hidden")
        await hands.press("x", "1", "2")
        await self.until_line("x12")
        await self._bench.guest.run("sh", "-c", f"kill {end.group(2)}")
        await self._screen.stop()


class LineEditor:
    """bash's line editor on the active virtual terminal. It returns the lines as they were when Enter was pressed."""

    SCRIPT = (
        f"/run/lab/terminal drop; exec >{FIFO}; unset LC_ALL; export TERM=linux LANG=C.UTF-8; set -o emacs; bind '\"\\t\": self-insert'; "
        'echo "ready $$"; while IFS= read -er line; do printf "<%s>\\n" "$line"; done'
    )

    def __init__(self, bench: Bench, output: Program) -> None:
        self._bench = bench
        self._output = output
        self._taken = 0
        self._pid = ""

    @classmethod
    async def open(cls, bench: Bench) -> LineEditor:
        """Opens the editor, discarding characters that were typed while no program had the terminal open."""
        await bench.guest.run("sh", "-c", f"rm -f {FIFO}; mkfifo {FIFO}")
        editor = cls(bench, await bench.start("cat", FIFO))
        await bench.guest.run("openvt", "-c", TERMINAL, "-f", "-s", "--", "bash", "-c", cls.SCRIPT)
        ready = await editor.line(40)
        editor._pid = ready.split()[1]
        return editor

    async def line(self, seconds: float = 20) -> str:
        """Returns the next line entered."""
        place = self._taken
        lines = lambda: self._output.out.split("\n")[:-1]  # noqa: E731
        await self._output.until(lambda: len(lines()) > place, "a line is entered", seconds)
        self._taken += 1
        return lines()[place]

    async def close(self) -> None:
        await self._bench.guest.run("sh", "-c", f"kill {self._pid}")
        await self._output.wait(10)
