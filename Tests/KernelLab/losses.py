# SPDX-License-Identifier: GPL-2.0-or-later
#
# Losses caused by the lab itself. Its programs in the guest count them (losses.h), and so do both ends of its ports. A scenario
# that fails because of such a loss reports it, so that nobody looks for a fault in the product.

from __future__ import annotations

from dataclasses import dataclass

from guest import Program

SLOW_ON_PURPOSE = {"--stall", "--stopped"}  # options of evread


@dataclass(frozen=True)
class Place:
    """A place where the lab can lose data: its name in the closing line, the unit of the count, and a description for errors."""

    name: str
    thing: str
    where: str


# Keys are the programs that report losses. Losses on a port are computed from the counts of its two ends.
PLACES = {
    "relay": Place("relay", "packet", "on the relay's user channel"),
    "hcimon": Place("monitor", "packet", "on the monitor channel"),
    "evread": Place("event readers", "queue", "of events at a reader that came late (SYN_DROPPED)"),
    "minimal": Place("C program", "packet", "on the C program's link"),
    "lab.hci": Place("HCI port", "byte", "on the port between relay and peer"),
    "lab.ctl": Place("control port", "frame", "on the port of the guest's agent"),
}

SAME_PLACE = {"attline": "minimal"}  # programs that are counted together


def described(counts: dict[str, int], only_losses: bool = False) -> str:
    """Returns the counts as text (`relay 0, monitor 0, …`), optionally without the places that lost nothing."""
    return ", ".join(f"{place.name} {counts[key]}" for key, place in PLACES.items() if counts[key] or not only_losses)


class Losses:
    """Losses in one scenario."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(PLACES, 0)
        self._silent: list[str] = []

    def add(self, place: str, count: int) -> None:
        self.counts[place] += count

    def take(self, program: Program) -> None:
        """Adds the losses that a finished program reported. A program that wrote output but no report may have lost data."""
        name = SAME_PLACE.get(program.name, program.name)
        if name not in PLACES or not program.stdout or SLOW_ON_PURPOSE & set(program.argv):
            return
        told = [o["count"] for o in program.objects if o.get("event") == "lost"]
        if told:
            self.add(name, told[-1])
        else:
            self._silent.append(program.name)

    def cause(self, cause: str) -> str:
        """Returns the cause of the scenario's failure, if any. Losses of the lab come first, because they may have led to the
        other failure."""
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
