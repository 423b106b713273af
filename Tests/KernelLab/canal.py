# SPDX-License-Identifier: GPL-2.0-or-later
#
# RootCanal's controllers on a radio of their own: one for the kernel or the product, and one for the lab's peer.

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from bumble.transport.common import PacketParser

import peer
from line import Line
from waiting import LabError

LAIRD = "LAIRD_BL654"
DONGLE = "CSR_RCK_PTS_DONGLE"
SECONDS = 30
NAMESPACE = Path(__file__).resolve().parent / "namespace.py"


class CanalRadio:
    """A RootCanal process."""

    def __init__(self, folder: Path, preset: str) -> None:
        self._folder = folder
        self._preset = preset
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        # Without root, the network namespace needs a user namespace that owns it.
        rights = [] if os.geteuid() == 0 else ["--map-root-user"]
        command = [sys.executable, str(NAMESPACE), str(self._folder), f"adapter={self._preset}", "peer="]
        pipe = asyncio.subprocess.PIPE
        with (self._folder / "rootcanal.log").open("wb") as log:
            process = self._process = await asyncio.create_subprocess_exec(
                "unshare", *rights, "--net", *command, stdin=pipe, stdout=pipe, stderr=log
            )
        assert process.stdout is not None
        try:
            said = await asyncio.wait_for(process.stdout.readline(), SECONDS)
        except TimeoutError:
            said = b""
        if said != b"ready\n":
            text = (self._folder / "rootcanal.log").read_text(errors="replace").strip()
            raise LabError(f"RootCanal did not start: …{text[-300:]}")

    async def attach(self, line: Line) -> None:
        stream = _Stream(line)
        await asyncio.get_running_loop().create_unix_connection(lambda: stream, str(self._folder / "adapter"))
        line.join(stream)

    def peer(self) -> peer.Peer:
        return peer.Peer(self._folder / "peer")

    def complaint(self) -> str:
        return ""

    def unknown(self) -> list[str]:
        return []

    async def close(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            await self._process.wait()


class _Stream(asyncio.Protocol):
    """Connection to the adapter's controller, which carries packets in both directions."""

    def __init__(self, line: Line) -> None:
        self._transport: asyncio.Transport | None = None
        self._line = line
        self._parser = PacketParser(line)

    def connection_lost(self, _error: Exception | None) -> None:
        """Unplugs the controller after RootCanal has ended."""
        self._transport = None
        self._line.end()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_packet(self, packet: bytes) -> None:
        if self._transport is not None:
            self._transport.write(packet)

    def unplug(self) -> None:
        if self._transport is not None:
            self._transport.close()
