# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs on this machine, with the same interface as programs in the lab's guest.

from __future__ import annotations

import asyncio
import signal
from typing import cast

from guest import Guest, Program


class LocalProgram(Program):
    """A program that is stopped at the end of the test."""

    def __init__(self, argv: list[str]) -> None:
        super().__init__(cast(Guest, None), 0, argv)
        self._process: asyncio.subprocess.Process | None = None
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    async def launch(cls, *argv: str) -> LocalProgram:
        program = cls(list(argv))
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*argv, stdin=pipe, stdout=pipe, stderr=pipe)
        assert process.stdout is not None and process.stderr is not None and process.stdin is not None
        # Without a write buffer in this process, everything written is in the pipe.
        process.stdin.transport.set_write_buffer_limits(0)
        program._process = process
        program.pid = process.pid
        readers = [
            asyncio.create_task(program._read(process.stdout, b"O")),
            asyncio.create_task(program._read(process.stderr, b"E")),
        ]
        program._tasks = [*readers, asyncio.create_task(program._reap(process, readers))]
        return program

    async def _read(self, stream: asyncio.StreamReader, kind: bytes) -> None:
        while data := await stream.read(1 << 16):
            self.note(kind, data)

    async def _reap(self, process: asyncio.subprocess.Process, readers: list[asyncio.Task[None]]) -> None:
        await asyncio.gather(*readers)
        status = await process.wait()
        self.note(b"X", bytes([status < 0, abs(status)]))

    async def signal(self, number: signal.Signals) -> None:
        if self.status is None and self._process is not None:
            self._process.send_signal(number)

    async def write(self, data: bytes) -> None:
        assert self._process is not None and self._process.stdin is not None
        for at in range(0, len(data), 4096):
            self._process.stdin.write(data[at : at + 4096])
            await self._process.stdin.drain()

    async def close_input(self) -> None:
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.close()
