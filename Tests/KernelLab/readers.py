# SPDX-License-Identifier: GPL-2.0-or-later
#
# Readers of the typed keys in the guest: a normal program on a virtual terminal (terminal.c), and an evdev reader (evread.c) that
# can be slowed down.

from __future__ import annotations

import signal
from typing import Any

from bench import Bench
from guest import Program

TERMINAL = "8"
FIFO = "/run/lab/terminal.fifo"
ON_TERMINAL = f"exec /run/lab/terminal >{FIFO}"


class Terminal:
    """A program on the active virtual terminal."""

    def __init__(self, bench: Bench, output: Program) -> None:
        self._bench = bench
        self._output = output
        self._start = 0

    @classmethod
    async def open(cls, bench: Bench) -> Terminal:
        await bench.guest.run("sh", "-c", f"rm -f {FIFO}; mkfifo {FIFO}")
        terminal = cls(bench, await bench.start("cat", FIFO))
        vt = await bench.guest.run("openvt", "-c", TERMINAL, "-f", "-s", "--", "sh", "-c", ON_TERMINAL, check=False)
        await terminal._output.until(lambda: b"\n" in terminal._output.stdout, f"the program on the terminal {vt.err}", 20)
        terminal._start = terminal._output.stdout.index(b"\n") + 1
        return terminal

    @property
    def text(self) -> bytes:
        return bytes(self._output.stdout[self._start :])

    async def until(self, length: int, seconds: float) -> None:
        """Waits for `length` bytes. The time limit applies to each byte, because the total time depends on the machine."""
        while (have := len(self._output.stdout) - self._start) < length:
            what = f"{length} bytes on the terminal, {have} so far: the next"
            await self._output.until(lambda have=have: len(self._output.stdout) - self._start > have, what, seconds)

    async def close(self) -> None:
        """Ends the program. Its output is complete at the end of the fifo."""
        pid = self._output.stdout[: self._start].decode().split()[1]
        await self._bench.guest.run("sh", "-c", f"kill {pid}")  # the shell's built-in: a minimal system has no other
        await self._output.wait(10)


class EventReader:
    """An evdev reader, which grabs the node unless `share` is set."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._text = bytearray()
        self._taken = 0

    @classmethod
    async def open(
        cls, bench: Bench, node: str, stall: int = 0, share: bool = False, keys: bool = False, stopped: bool = False
    ) -> EventReader:
        """Opens a reader of a node. `stall` slows it down by as many milliseconds; `stopped` means that the scenario stops and
        resumes it."""
        flags = {"--share": share, "--keys": keys, "--stopped": stopped}
        options = (*(("--stall", str(stall)) if stall else ()), *(flag for flag, is_set in flags.items() if is_set))
        program = await bench.start("evread", node, *options)
        await program.until(lambda: program.objects, "the event reader has the node", 20)
        return cls(program)

    @property
    def drains(self) -> list[dict[str, Any]]:
        """Text of each drain of the queue, with the kernel's time stamps of the first and the last key press."""
        return [o for o in self.program.objects if "text" in o]

    @property
    def keys(self) -> list[tuple[int, int]]:
        """Code and value of each key that changed; requires `keys`."""
        return [(key, value) for o in self.program.objects for key, value in o.get("keys", [])]

    @property
    def text(self) -> bytes:
        objects = self.program.objects
        while self._taken < len(objects):
            self._text += objects[self._taken].get("text", "").encode()
            self._taken += 1
        return bytes(self._text)

    async def until(self, length: int, seconds: float) -> None:
        """Waits for `length` bytes. The time limit applies to each byte, because the total time depends on the machine."""
        while (have := len(self.text)) < length:
            what = f"{length} bytes at the event reader, {have} so far: the next"
            await self.program.until(lambda have=have: len(self.text) > have, what, seconds)

    async def summary(self) -> dict[str, Any]:
        await self.program.signal(signal.SIGTERM)
        await self.program.wait(10)
        return next(o["summary"] for o in self.program.objects if "summary" in o)
