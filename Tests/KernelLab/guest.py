# SPDX-License-Identifier: GPL-2.0-or-later
#
# Host end of the agent's port (agent.c): represents programs in the guest as objects, and receives their output as it is written.

from __future__ import annotations

import asyncio
import json
import signal
import struct
from pathlib import Path
from typing import Any

from waiting import Changing, LabError

HEADER = struct.Struct("<IcII")  # length of the rest, kind, id, position

class Program(Changing):
    """A program in the guest."""

    def __init__(self, guest: Guest, number: int, argv: list[str]) -> None:
        super().__init__()
        self.argv = argv
        self.pid = 0
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.status: int | None = None  # exit code, or the negative signal number if a signal ended it
        self._guest = guest
        self._number = number
        self._parsed = 0
        self._objects: list[dict[str, Any]] = []

    @property
    def name(self) -> str:
        return Path(self.argv[0]).name

    @property
    def out(self) -> str:
        return self.stdout.decode(errors="replace")

    @property
    def err(self) -> str:
        return self.stderr.decode(errors="replace")

    @property
    def objects(self) -> list[dict[str, Any]]:
        """JSON objects from the complete lines of standard output so far."""
        while (end := self.stdout.find(b"\n", self._parsed)) >= 0:
            line = bytes(self.stdout[self._parsed : end])
            self._parsed = end + 1
            if line.startswith(b"{"):
                try:
                    self._objects.append(json.loads(line))
                except ValueError as error:
                    raise LabError(f"{self.name} printed a broken JSON line: {line[:200]!r}") from error
        return self._objects

    def hopeless(self) -> str:
        return "" if self.status is None else f"{self.name} ended with {self.status} before"

    def evidence(self) -> str:
        text = (self.err or self.out).strip()
        return f" (it printed …{text[-200:]!r})" if text else ""

    async def wait(self, seconds: float) -> int:
        """Waits until the program ends and returns its status."""
        await self.until(lambda: self.status is not None, f"{self.name} ends", seconds)
        assert self.status is not None
        return self.status

    async def signal(self, number: signal.Signals) -> None:
        if self.status is None:
            await self._guest.send(b"K", self._number, bytes([number]))

    async def stop(self, seconds: float = 10) -> None:
        """Sends SIGTERM, and SIGKILL if the program does not end in time."""
        await self.signal(signal.SIGTERM)
        try:
            await self.wait(seconds)
        except LabError:
            await self.signal(signal.SIGKILL)
            await self.wait(seconds)

    def note(self, kind: bytes, payload: bytes) -> None:
        if kind == b"S":
            (self.pid,) = struct.unpack("<i", payload)
            if self.pid < 0:
                self.status = 127
        elif kind == b"O":
            self.stdout += payload
        elif kind == b"E":
            self.stderr += payload
        elif kind == b"X":
            self.status = -payload[1] if payload[0] else payload[1]
        self.changed()

    async def write(self, data: bytes) -> None:
        for at in range(0, len(data), 4096):
            await self._guest.send(b"I", self._number, data[at : at + 4096])

    async def close_input(self) -> None:
        await self._guest.send(b"C", self._number, b"")


class Guest:
    """The agent in the guest."""

    def __init__(self) -> None:
        self._programs: dict[int, Program] = {}
        self._writer: asyncio.StreamWriter | None = None
        self._task: asyncio.Task[None] | None = None
        self._hello = asyncio.Event()
        self._next = 1
        self._sent = self._received = 0  # number of bytes
        self.gone = False
        self.lost = 0  # number of times that the port lost bytes; the first loss is fatal

    async def connect(self, path: Path, seconds: float) -> None:
        """Waits for the agent's first message, which means that the guest has booted."""
        reader, self._writer = await asyncio.open_unix_connection(str(path))
        self._task = asyncio.create_task(self._read(reader))
        try:
            await asyncio.wait_for(self._hello.wait(), seconds)
        except TimeoutError as error:
            raise LabError(f"the guest did not boot within {seconds:g} s") from error
        if self.gone:
            raise LabError("the guest stopped while booting")

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                length, kind, number, place = HEADER.unpack(await reader.readexactly(HEADER.size))
                if kind == b"L" or place != self._received & 0xFFFFFFFF:
                    self.lost += 1
                    break
                payload = await reader.readexactly(4 + length - HEADER.size)
                self._received += 4 + length
                if kind == b"H":
                    self._hello.set()
                elif number in self._programs:
                    self._programs[number].note(kind, payload)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        self.gone = True
        self._hello.set()
        for program in self._programs.values():
            if program.status is None:
                program.note(b"X", bytes([1, signal.SIGKILL]))

    async def send(self, kind: bytes, number: int, payload: bytes) -> None:
        if self.gone or self._writer is None:
            raise LabError("the virtual machine is gone")
        head = HEADER.pack(HEADER.size - 4 + len(payload), kind, number, self._sent & 0xFFFFFFFF)
        self._sent += len(head) + len(payload)
        self._writer.write(head + payload)
        await self._writer.drain()

    async def start(self, *argv: str) -> Program:
        """Starts a program and returns when it is running."""
        number, self._next = self._next, self._next + 1
        program = self._programs[number] = Program(self, number, list(argv))
        await self.send(b"R", number, b"".join(word.encode() + b"\0" for word in argv))
        await program.until(lambda: program.pid != 0, f"{argv[0]} starts", 20)
        if program.pid < 0:
            raise LabError(f"{argv[0]}: cannot be started in the guest (errno {-program.pid})")
        return program

    async def run(self, *argv: str, seconds: float = 20, check: bool = True, stdin: bytes = b"") -> Program:
        """Runs a program until it ends."""
        program = await self.start(*argv)
        if stdin:
            await program.write(stdin)
        await program.close_input()
        status = await program.wait(seconds)
        if check and status != 0:
            raise LabError(f"{' '.join(argv)} in the guest: status {status}: {(program.err or program.out).strip()[-300:]}")
        return program

    async def halt(self, program: Program) -> None:
        """Sends SIGSTOP and waits until the program is stopped."""
        await program.signal(signal.SIGSTOP)
        loop = 'until grep -q "^State:.T" /proc/$1/status; do sleep 0.01; done'
        await self.run("sh", "-c", loop, "sh", str(program.pid))

    async def write_file(self, path: str, data: bytes) -> None:
        await self.run("sh", "-c", 'cat >"$1"', "sh", path, stdin=data)

    async def read_file(self, path: str) -> bytes:
        return bytes((await self.run("cat", path, seconds=60)).stdout)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
        if self._writer is not None:
            self._writer.close()
