# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the lab itself lost. Its programs in the guest count (losses.h), and so do the ends of its ports: a scenario that
# fails for it says so, and nobody looks for the fault in the product.

from __future__ import annotations

from dataclasses import dataclass

from guest import Program

SLOW_ON_PURPOSE = {"--stall", "--stopped"}  # evread


@dataclass(frozen=True)
class Place:
    """Where the lab can lose something: its name in the closing line, what is counted, and where."""

    name: str
    thing: str
    where: str


# By the program that tells; the ports are counted by their two ends.
PLACES = {
    "relay": Place("relay", "packet", "on the relay's user channel"),
    "hcimon": Place("monitor", "packet", "on the monitor channel"),
    "evread": Place("event readers", "queue", "of events at a reader that came late (SYN_DROPPED)"),
    "minimal": Place("C program", "packet", "on the C program's link"),
    "lab.hci": Place("HCI port", "byte", "on the port between relay and peer"),
    "lab.ctl": Place("control port", "frame", "on the port of the guest's agent"),
}


def described(counts: dict[str, int], only_losses: bool = False) -> str:
    """`relay 0, monitor 0, …`, or those places only that lost something."""
    return ", ".join(f"{place.name} {counts[key]}" for key, place in PLACES.items() if counts[key] or not only_losses)


class Losses:
    """Those of one scenario."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(PLACES, 0)
        self._silent: list[str] = []

    def add(self, place: str, count: int) -> None:
        self.counts[place] += count

    def take(self, program: Program) -> None:
        """What a program has told when it is over; one that did its work and told nothing may have lost anything."""
        if program.name not in PLACES or not program.stdout or SLOW_ON_PURPOSE & set(program.argv):
            return
        told = [o["count"] for o in program.objects if o.get("event") == "lost"]
        if told:
            self.add(program.name, told[-1])
        else:
            self._silent.append(program.name)

    def cause(self, cause: str) -> str:
        """Why the scenario fails, if it does: what the lab lost comes before what that may have led to."""
        lost = [
            f"{number} {place.thing}{'s' if number > 1 else ''} {place.where}"
            for key, place in PLACES.items()
            if (number := self.counts[key])
        ]
        if lost:
            return f"the lab lost {' and '.join(lost)}" + (f" (and then: {cause})" if cause else "")
        if self._silent and not cause:
            return f"{', '.join(self._silent)} ended without telling what was lost"
        return cause
