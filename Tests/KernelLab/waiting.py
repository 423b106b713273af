# SPDX-License-Identifier: GPL-2.0-or-later
#
# The only way to wait in the lab: for a condition that is checked whenever the state changes, with a deadline whose error names
# the condition. The lab never sleeps in the hope that something has finished by then.

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any


# Factor by which all time limits are multiplied, for a busy machine (lab --patience).
patience = 1.0


class LabError(Exception):
    """An expectation failed. The text is printed as the cause."""


def expect(holds: object, cause: str) -> None:
    if not holds:
        raise LabError(cause)


class Changing:
    """An object whose state others wait for."""

    def __init__(self) -> None:
        self._waiters: set[asyncio.Future[None]] = set()

    def changed(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def hopeless(self) -> str:
        """Returns the reason why a wait can no longer succeed; empty if it can."""
        return ""

    def evidence(self) -> str:
        """Returns a text to append to the error of a wait that timed out."""
        return ""

    async def until(self, condition: Callable[[], Any], what: str, seconds: float) -> Any:
        """Waits until the condition is true, and returns its value."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds * patience
        while not (value := condition()):
            if cause := self.hopeless():
                raise LabError(f"{what}: {cause}{self.evidence()}")
            waiter = loop.create_future()
            self._waiters.add(waiter)
            try:
                async with asyncio.timeout_at(deadline):
                    await waiter
            except TimeoutError:
                raise LabError(f"{what}: not within {seconds:g} s{self.evidence()}") from None
            finally:
                self._waiters.discard(waiter)
        return value
