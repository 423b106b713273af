# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the page of events and JSON (reference/events.md) with the program: its table of events, and what commands print."""

from __future__ import annotations

import json
import pathlib
import re
import tempfile

from pages import Command, Shell

CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
# Commands with JSON, with a daemon that types the barcodes of a simulated device, and then without a daemon.
WITH_DAEMON = [
    "status --json", "devices --json", "pause --json", "resume --json", "beacons status --json", "beacons regions --json",
    "beacons watch all --json", "beacons designated --json", "gate give --json",
]  # fmt: skip
ALONE = [
    "scan --adapter memory: --once --seconds 1 --json", "gatt SCALE-15K --adapter memory: --json", "doctor --json",
    "gatt SCALE-15K read 2A00 --adapter memory: --json", "doctor --all --json", "profiles --json", "table show --json",
    "demo --fast --json", "capture traffic.btsnoop --json", "beacons regions --json", "beacons designate A17C --json",
    "beacons check --adapter memory: --json", "beacons validate 4A1C0D9E-5B8F-4E57-9B7E-1C2D3E4F5A6B 1 2 --json",
    "beacons show-record --json",
]  # fmt: skip


def table(help_text: str) -> dict[str, list[str]]:
    """Returns the members of each event in the help of `blewedge events`."""
    section = help_text.partition("EVENTS AND MEMBERS:\n")[2].partition("\n\n")[0]
    found: dict[str, list[str]] = {}
    for line in section.splitlines():
        name, _, members = line.strip().partition("  ") if not line.startswith("   ") else ("", "", line)
        if name:
            last = found.setdefault(name, [])
        last += [member.strip() for member in members.split(",") if member.strip()]
    return found


def described(page: str) -> dict[str, list[str]]:
    """Returns the members of each event in the first table of the page's section on events."""
    section = page.partition("\n## Events\n")[2].partition("\n\n| event | when |")[2].partition("\n\n")[0]
    found = {}
    for row in section.splitlines()[2:]:
        _, event, _, members, _ = re.split(r"(?<!\\)\|", row)
        # The names are before the colon of each part, and values in parentheses.
        names = [re.sub(r"\(.*?\)", "", part.partition(":")[0]) for part in members.split(";")]
        found[CODE.findall(event)[0]] = [name for part in names for name in CODE.findall(part)]
    return found


def names(value: object) -> set[str]:
    """Returns the names of all members in a JSON value."""
    if isinstance(value, dict):
        return set(value) | {name for inner in value.values() for name in names(inner)}
    return {name for inner in value for name in names(inner)} if isinstance(value, list) else set()


def printed(program: pathlib.Path) -> dict[str, set[str]]:
    """Returns the names of the members that each command prints."""
    found: dict[str, set[str]] = {}
    with tempfile.TemporaryDirectory(prefix="blewedge-manual.", dir="/tmp") as folder:
        shell = Shell(program, pathlib.Path(folder) / "home", "en")

        def collect(name: str, text: str) -> None:
            for line in filter(None, text.splitlines()):
                found[name] = found.get(name, set()) | names(json.loads(line))

        def run(text: str) -> str:
            wrong = shell.run(Command("", f"{text} > out.txt 2> errors.txt; true", []))
            return wrong or (shell.home / "out.txt").read_text()

        try:
            run(
                "blewedge run --adapter memory: --device LINBLE-Z1 --security none --to unix:$PWD/scans --events --capture "
                "traffic.btsnoop > run.txt 2> log.txt & until blewedge status | grep -q received; do sleep 0.2; done; "
                "blewedge events > events.txt & until grep -q state events.txt; do sleep 0.2; done"
            )
            for command in WITH_DAEMON:
                collect(command, run(f"blewedge {command}"))
            run("until grep -q received events.txt; do sleep 0.2; done; blewedge stop; wait")
            collect("events", (shell.home / "events.txt").read_text())
            collect("run --events", (shell.home / "run.txt").read_text())
            for command in ALONE:
                collect(command, run(f"blewedge {command}"))
        finally:
            shell.end()
    return found


def faults(page: str, others: str, help_text: str, outputs: dict[str, set[str]]) -> list[str]:
    """Returns the differences between the page and the program. Members may also be described on other pages."""
    listed, shown = table(help_text), described(page)
    found = [f"the event {event} is not on the page" for event in listed if event not in shown]
    found += [f"there is no event {event}" for event in shown if event not in listed]
    for event in set(listed) & set(shown):
        found += [f"{event}: the page has no {name}" for name in listed[event] if name not in shown[event]]
        found += [f"{event}: the program has no {name}" for name in shown[event] if name not in listed[event]]
    known = set(CODE.findall(page + others))
    for command, members in outputs.items():
        found += [f"`{command}` prints {name}, which is not on the page" for name in sorted(members - known)]
    return found
