# SPDX-License-Identifier: GPL-2.0-or-later
#
# The file of the selected device, when the process is killed at any system call while writing it.

from __future__ import annotations

import re
from dataclasses import dataclass

from bench import BINARY, Bench
from scenarios import scenario
from waiting import expect

HOME = "/run/lab/choice"
FILE = f"{HOME}/selection"
ENVIRONMENT = (
    "env", f"HOME={HOME}", f"STATE_DIRECTORY={HOME}", f"RUNTIME_DIRECTORY={HOME}/run", f"CONFIGURATION_DIRECTORY={HOME}/etc",
)  # fmt: skip
OLD, NEW = "F0:F1:F2:F3:F4:F5", "00:1D:12:00:01:20"
USE_OLD, USE_NEW = (("use", address, "--address-type", "public", "--yes", "--security", "none") for address in (OLD, NEW))
CALL = re.compile(r"^\d+ +(?P<name>\w+)\((?P<rest>.*)$")
TRACE = "/run/lab/choice.trace"
PATIENCE = 60


@dataclass(frozen=True)
class Call:
    """A system call, and its number among the calls with the same name, counted from 1."""

    name: str
    number: int
    rest: str


async def traced(bench: Bench, *command: str) -> list[Call]:
    """Returns the system calls of a command."""
    await bench.guest.run("strace", "-f", "-y", "-o", TRACE, *ENVIRONMENT, BINARY, *command, seconds=PATIENCE)
    calls: list[Call] = []
    count: dict[str, int] = {}
    # The calls of env before it executes the program are counted too, because it is the same process.
    for line in (await bench.guest.read_file(TRACE)).decode(errors="replace").splitlines():
        if match := CALL.match(line):
            name = match["name"]
            count[name] = count.get(name, 0) + 1
            calls.append(Call(name, count[name], match["rest"]))
    return calls


async def killed(bench: Bench, call: Call, *command: str) -> str | None:
    """Kills a command just before this call. Returns the content of the file afterwards; None if it does not exist."""
    inject = f"inject={call.name}:signal=SIGKILL:when={call.number}"
    line = ("strace", "-f", "-o", TRACE, "-e", inject, *ENVIRONMENT, BINARY, *command)
    program = await bench.guest.run(*line, seconds=PATIENCE, check=False)
    trace = (await bench.guest.read_file(TRACE)).decode(errors="replace")
    expect("+++ killed by SIGKILL +++" in trace, f"not killed at {call.name} {call.number}{program.evidence()}: {trace[-200:]}")
    found = await bench.guest.run("cat", FILE, check=False)
    return found.out if found.status == 0 else None


def place(calls: list[Call], name: str, text: str, start: int = 0) -> int:
    """Returns the index of the first call from `start` on with this name and this text."""
    found = [at for at, call in enumerate(calls) if at >= start and call.name.startswith(name) and text in call.rest]
    expect(found, f"no {name} of {text} behind call {start}: {[call.name for call in calls[-25:]]}")
    return found[0]


def is_on_disk(calls: list[Call]) -> tuple[int, int]:
    """Returns the indexes of the calls where writing begins and where the new file replaces the old one. Checks that the new file
    is synchronized to the disk before, and its directory after the replacement."""
    begin = place(calls, "open", f'"{HOME}/.selection.')
    rename = place(calls, "rename", f'"{FILE}"', begin)
    written = [at for at, call in enumerate(calls) if call.name == "write" and "/.selection." in call.rest]
    expect(written, "nothing is written into the new file")
    whole = place(calls, "fsync", "/.selection.", written[-1])
    expect(whole < rename, "the new file takes the old one's place before it is on the disk")
    place(calls, "fsync", f"<{HOME}>", rename)
    return begin, rename


@scenario("choice-atomic", peer="no adapter", deadline=400, once=True)
async def choice_atomic(bench: Bench) -> None:
    """LK-5: after a kill before any system call of a write, the file on the disk has the old or the new selected device, complete."""
    await bench.guest.run("sh", "-c", f"rm -rf {HOME} && mkdir -p {HOME}/etc {HOME}/run")
    await bench.guest.run(*ENVIRONMENT, BINARY, *USE_OLD)
    old = (await bench.guest.run("cat", FILE)).out
    expect(OLD in old, f"kept is {old!r}")
    calls = await traced(bench, *USE_NEW)
    new = (await bench.guest.run("cat", FILE)).out
    expect(new == old.replace(OLD, NEW), f"kept is {new!r}")
    begin, rename = is_on_disk(calls)

    # From the call before the new file is created to the end of the program.
    points = range(begin - 2, len(calls))
    for at in points:
        await bench.guest.write_file(FILE, old.encode())
        text = await killed(bench, calls[at], *USE_NEW)
        wanted = old if at <= rename else new
        where = f"killed before call {at - begin} of the writing, {calls[at].name}"
        expect(text == wanted, f"{where}, the file is {text!r} instead of the {'old' if wanted == old else 'new'} one")
        # A temporary file left behind by a killed process must not disturb the next one.
        await bench.guest.run(*ENVIRONMENT, BINARY, *USE_OLD)
        expect((await bench.guest.run("cat", FILE)).out == old, f"{where}: the next choice was not kept")

    calls = await traced(bench, "forget")
    gone = place(calls, "unlink", f'"{FILE}"')
    place(calls, "fsync", f"<{HOME}>", gone)
    for at in range(gone - 1, len(calls)):
        await bench.guest.write_file(FILE, old.encode())
        text = await killed(bench, calls[at], "forget")
        expect(text == (old if at <= gone else None), f"forget, killed before {calls[at].name}: the file is {text!r}")
    bench.note = f"killed before each of {len(points)} calls of `use` and {len(calls) - gone + 1} of `forget`"
