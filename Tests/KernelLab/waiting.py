# SPDX-License-Identifier: GPL-2.0-or-later
#
# The lab's one way to wait: for a condition, woken by whoever changes what it looks at, with a deadline
# whose error names what was waited for. Nothing in the lab sleeps in the hope that something is done by then.

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any


# How many times as long as it says everything is waited for: a machine with much else to do needs it (lab --patience).
patience = 1.0


class LabError(Exception):
    """An expectation did not hold; the text is the cause that is printed."""


def expect(holds: object, cause: str) -> None:
    if not holds:
        raise LabError(cause)


class Changing:
    """Something whose state others wait for."""

    def __init__(self) -> None:
        self._waiters: set[asyncio.Future[None]] = set()

    def changed(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def hopeless(self) -> str:
        """Why a wait can never be fulfilled any more, or nothing."""
        return ""

    def evidence(self) -> str:
        """What to add to the error of a wait that timed out."""
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
