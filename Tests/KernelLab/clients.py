# SPDX-License-Identifier: GPL-2.0-or-later
#
# Clients of a control socket that run as any user and return the daemon's raw lines.

from __future__ import annotations

import json
from typing import Any

from bench import Bench
from guest import Program

# Sends each line after the answer to the previous one. Prints the answers, and `sent` before the first answer.
CLIENT = """
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect(sys.argv[1])
answers = server.makefile()
for number, line in enumerate(sys.argv[2:]):
    server.sendall(line.encode() + b"\\n")
    if number == 0:
        print("sent", flush=True)
    print(answers.readline(), end="", flush=True)
"""


def as_user(user: str, group: str, *groups: str, more: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Returns a command prefix that runs a command as a user who belongs to these groups only."""
    others = (f"--groups={','.join(groups)}",) if groups else ("--clear-groups",)
    return ("setpriv", f"--reuid={user}", f"--regid={group}", *others, *more)


async def client(bench: Bench, socket: str, *requests: str, before: tuple[str, ...] = ()) -> Program:
    """Starts a client that has already sent its first request."""
    program = await bench.start(*before, "/usr/bin/python3", "-c", CLIENT, socket, *requests)
    await program.until(lambda: program.out.startswith("sent"), "the client has asked", 20)
    return program


async def lines(bench: Bench, socket: str, *requests: str, before: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Sends requests on one connection and returns the answers."""
    program = await client(bench, socket, *requests, before=before)
    await program.wait(40)
    return [json.loads(line) for line in program.out.splitlines()[1:]]


async def ask(bench: Bench, *argv: str, before: tuple[str, ...] = ()) -> Program:
    """Runs a command until it ends."""
    return await bench.guest.run(*before, *argv, seconds=40, check=False)
