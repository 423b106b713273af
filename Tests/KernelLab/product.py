# SPDX-License-Identifier: GPL-2.0-or-later
#
# The product as a program under test: a command that writes lines of JSON to standard output and returns an exit code.

from __future__ import annotations

import signal
import time
from typing import Any

from guest import Program
from waiting import LabError, expect

PARTS = ("typed", "discarded", "rejected", "gated", "lost", "waiting")


class Product:
    """One process of the product."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.node = ""
        self._seen = 0

    @property
    def states(self) -> list[str]:
        return [o["state"] for o in self.program.objects if o.get("event") == "state"]

    async def keyboard(self, seconds: float = 20) -> str:
        """Returns the event node of the keyboard, which must exist before any connection."""

        def node() -> str:
            return next((o["node"] for o in self.program.objects if o.get("event") == "keyboard"), "")

        self.node = await self.program.until(node, "the keyboard is created", seconds)
        return self.node

    async def state(self, name: str, seconds: float) -> None:
        """Waits for a state; the next call looks only at later states. If an attempt fails, the wait fails even if a later
        attempt would succeed, unless the state to wait for is "failed"."""

        def found() -> bool:
            news = self.states[self._seen :]
            if "failed" in news and name not in news[: news.index("failed") + 1]:
                raise LabError(f"state {name}: an attempt failed: {self._last_reason('failed')}")
            return name in news

        try:
            await self.program.until(found, f"state {name}", seconds)
        except LabError as error:
            raise LabError(f"{error} (states so far: {', '.join(self.states) or 'none'})") from None
        self._seen += self.states[self._seen :].index(name) + 1

    def _last_reason(self, name: str) -> str:
        reasons = [o.get("reason", "no reason given") for o in self.program.objects if o.get("state") == name]
        return str(reasons[-1])

    async def end(self, number: signal.Signals, code: int, seconds: float = 15) -> float:
        """Sends a signal, checks the exit code, and returns the seconds until the end."""
        start = time.monotonic()
        await self.program.signal(number)
        status = await self.program.wait(seconds)
        expect(status == code, f"exit {status} instead of {code} after {number.name}{self.program.evidence()}")
        return time.monotonic() - start

    async def exits(self, code: int, seconds: float) -> None:
        """Waits until the process ends, and checks its exit code."""
        status = await self.program.wait(seconds)
        expect(status == code, f"exit {status} instead of {code}{self.program.evidence()}")

    def counts(self, name: str | None = None) -> dict[str, Any]:
        """Returns the counts printed at the end, and checks that they balance. `name` is that of one of several devices."""
        found = [o for o in self.program.objects if o.get("event") == "counts" and o.get("name") == name]
        expect(len(found) == 1, f"{len(found)} lines of counts instead of one{self.program.evidence()}")
        counts = found[0]
        missing = [name for name in ("notifications", "received", "dropped", *PARTS) if name not in counts]
        expect(not missing, f"the counts lack {', '.join(missing)}: {counts}")
        total = sum(counts[name] for name in PARTS)
        expect(counts["received"] == total, f"the counts do not balance: {counts}")
        return counts
