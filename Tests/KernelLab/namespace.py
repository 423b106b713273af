# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs RootCanal in the network namespace in which canal.py started this program, so that nothing else can connect to its TCP
# ports. The ports are reached through unix sockets, which work across network namespaces.
#
#   namespace.py FOLDER NAME=PRESET …      one controller for each NAME, which is also its socket's name;
#                                          an empty preset is RootCanal's default
#
# With "strict: false", RootCanal answers commands that a preset does not know. Otherwise RootCanal 1.10.0 ends with all its
# controllers, and every kernel sends some commands that the presets list as supported but do not have (Read Stored Link Key, LE
# Read Transmit Power).
#
# Prints "ready" when the sockets exist. Ends, together with RootCanal, at the end of standard input.

from __future__ import annotations

import asyncio
import fcntl
import socket
import struct
import sys
from pathlib import Path

from rootcanal.binaries import get_package_binary_resource_path

FIRST_PORT = 7000
SET_FLAGS, UP_AND_RUNNING = 0x8914, 0x41  # SIOCSIFFLAGS, IFF_UP | IFF_RUNNING


def raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sH14x", b"lo", UP_AND_RUNNING))


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()


async def serve(path: Path, port: int) -> None:
    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer), return_exceptions=True)

    await asyncio.start_unix_server(join, str(path))


async def main(folder: Path, controllers: list[tuple[str, str]]) -> int:
    raise_loopback()
    servers = " ".join(
        f"tcp_server {{ tcp_port: {FIRST_PORT + number} {f'configuration {{ preset: {preset} strict: false }}' if preset else ''} }}"
        for number, (_, preset) in enumerate(controllers)
    )
    argv = ["setpriv", "--pdeathsig", "KILL", get_package_binary_resource_path("rootcanal"), "-configuration", servers]
    process = await asyncio.create_subprocess_exec(*argv, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    while line := await process.stdout.readline():
        sys.stderr.buffer.write(line)
        if b"initialize: Finished" in line:
            break
    else:
        return 1
    rest = asyncio.create_task(process.stdout.read())  # read and discard all further output
    for number, (name, _) in enumerate(controllers):
        await serve(folder / name, FIRST_PORT + number)
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    if process.returncode is None:
        process.kill()
    await process.wait()
    await rest
    return 0


if __name__ == "__main__":
    places = [word.partition("=") for word in sys.argv[2:]]
    sys.exit(asyncio.run(main(Path(sys.argv[1]), [(name, preset) for name, _, preset in places])))
