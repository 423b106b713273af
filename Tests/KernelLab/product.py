# SPDX-License-Identifier: GPL-2.0-or-later
#
# The product as the lab sees it: a command with JSON lines on standard output and an exit code.

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
        """The event node of its keyboard, which must stand before any connection."""

        def node() -> str:
            return next((o["node"] for o in self.program.objects if o.get("event") == "keyboard"), "")

        self.node = await self.program.until(node, "the keyboard is created", seconds)
        return self.node

    async def state(self, name: str, seconds: float) -> None:
        """Waits for a state, and from then on looks at later states only. An attempt that fails is not made good
        by the next one: it ends the wait, unless a failure is what is waited for."""

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
        """A signal, and the exit code it must lead to; how long it took."""
        start = time.monotonic()
        await self.program.signal(number)
        status = await self.program.wait(seconds)
        expect(status == code, f"exit {status} instead of {code} after {number.name}{self.program.evidence()}")
        return time.monotonic() - start

    async def exits(self, code: int, seconds: float) -> None:
        """Ends by itself with this code."""
        status = await self.program.wait(seconds)
        expect(status == code, f"exit {status} instead of {code}{self.program.evidence()}")

    def counts(self) -> dict[str, Any]:
        """The counts printed at the end, which have to balance."""
        found = [o for o in self.program.objects if o.get("event") == "counts"]
        expect(len(found) == 1, f"{len(found)} lines of counts instead of one{self.program.evidence()}")
        counts = found[0]
        missing = [name for name in ("notifications", "received", "dropped", *PARTS) if name not in counts]
        expect(not missing, f"the counts lack {', '.join(missing)}: {counts}")
        total = sum(counts[name] for name in PARTS)
        expect(counts["received"] == total, f"the counts do not balance: {counts}")
        return counts
